/** What all answers share, as schemas: failures, problem details, facts of a page; and what headers say. */
import type { JsonSchema } from '../validate/schema/json-schema.ts'

const DETAIL: JsonSchema = {
	title: 'Detail',
	description: 'One problem of many',
	type: 'object',
	properties: {
		field: { type: 'string', description: 'Path of the field, `tags.0`; empty for the whole' },
		code: { type: 'string', description: 'The rule that was broken, in snake_case' },
		message: { type: 'string' },
	},
	required: ['field', 'code', 'message'],
}

/** What goes with a message. */
const MORE: Readonly<Record<string, JsonSchema>> = {
	code: { type: 'string', description: 'What went wrong, in snake_case' },
	details: { type: 'array', items: DETAIL },
	requestId: { type: 'string', description: 'By which the request is found in the log' },
}

export const FAILURE: Readonly<Record<'wrapped' | 'bare', JsonSchema>> = {
	wrapped: {
		title: 'Failure',
		type: 'object',
		properties: { success: { type: 'boolean', const: false }, error: { type: 'string' }, ...MORE },
		required: ['success', 'error'],
	},
	bare: {
		title: 'BareFailure',
		type: 'object',
		properties: { error: { type: 'string' }, ...MORE },
		required: ['error'],
	},
}

export const PROBLEM: JsonSchema = {
	title: 'Problem',
	description: 'Problem details (RFC 9457)',
	type: 'object',
	properties: {
		type: { type: 'string', format: 'uri-reference' },
		title: { type: 'string' },
		status: { type: 'integer' },
		detail: { type: 'string' },
		...MORE,
	},
	required: ['type', 'title', 'status', 'detail'],
}

export const PAGE_META: JsonSchema = {
	title: 'PageMeta',
	type: 'object',
	properties: {
		limit: { type: 'integer', description: 'Most records of the page, as it was taken' },
		offset: {
			type: 'integer',
			description: 'How many records were left out before it; 0 behind most cursors',
		},
		next: { type: ['string', 'null'], description: 'The cursor of the next page; null on the last one' },
		total: {
			type: 'integer',
			description: 'How many records fit, over all pages; there when they were counted',
		},
	},
	required: ['limit', 'offset', 'next'],
}

type DescribedHeader = { readonly description: string; readonly schema: JsonSchema }

/** What headers of answers say, by their names. */
export const HEADERS: Readonly<Record<string, DescribedHeader>> = {
	Allow: text('Of 405: the methods that there are'),
	ETag: text('The version of the record, for If-Match and If-None-Match'),
	Link: text('The next page, as `rel="next"` (RFC 8288); absent on the last one'),
	Location: text('The path of the new record'),
	RateLimit: text('How many more requests would be served, and when more are'),
	'RateLimit-Policy': text('How many requests are served in how many seconds'),
	'Retry-After': count('Seconds until it may be tried again'),
	'WWW-Authenticate': text('What credentials are asked for'),
	'X-Total-Count': count('How many records fit, over all pages; there when they were counted'),
}

/** The header that the option `requestId` names. */
export const REQUEST_ID: DescribedHeader = text('By which the request is found in the log')

function text(description: string): DescribedHeader {
	return { description, schema: { type: 'string' } }
}

function count(description: string): DescribedHeader {
	return { description, schema: { type: 'integer' } }
}
