/** JSON schemas of articles, for Fastify: of requests and of responses. */
const text = (maxLength) => ({ type: 'string', minLength: 1, maxLength })
const integer = { type: 'integer', minimum: -2147483648, maximum: 2147483647 }

/** What a client may write. */
const WRITABLE = {
	author_id: integer,
	title: text(200),
	body: { type: 'string' },
	status: text(20),
	views: integer,
	rating: { type: ['number', 'null'] },
	published: { type: 'boolean' },
}

const RECORD = {
	type: 'object',
	properties: {
		id: { type: 'integer' },
		author_id: { type: 'integer' },
		title: { type: 'string' },
		body: { type: 'string' },
		status: { type: 'string' },
		views: { type: 'integer' },
		rating: { type: ['number', 'null'] },
		published: { type: 'boolean' },
		created: { type: 'string', format: 'date-time' },
		updated: { type: 'string', format: 'date-time' },
	},
}

export const PARAMS = { type: 'object', properties: { id: integer } }

export const QUERY = {
	type: 'object',
	additionalProperties: false,
	properties: {
		limit: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
		offset: { type: 'integer', minimum: 0, default: 0 },
		cursor: { type: 'string', maxLength: 200 },
		sort: { type: 'string', enum: ['-created'] },
	},
}

export const CREATED = {
	type: 'object',
	additionalProperties: false,
	required: ['author_id', 'title', 'body', 'status'],
	properties: WRITABLE,
}

/** A list of new articles. */
export const CREATED_MANY = { type: 'array', minItems: 1, maxItems: 100, items: CREATED }

export const CHANGED = {
	type: 'object',
	additionalProperties: false,
	minProperties: 1,
	properties: WRITABLE,
}

/** Response schemas: Fastify generates its serializer from them. */
export const ONE = enveloped({ data: RECORD })
export const LIST = enveloped({ data: { type: 'array', items: RECORD } })
export const MANY = enveloped({
	data: { type: 'array', items: RECORD },
	meta: {
		type: 'object',
		properties: {
			limit: { type: 'integer' },
			offset: { type: 'integer' },
			next: { type: ['string', 'null'] },
		},
	},
})

function enveloped(properties) {
	return { '2xx': { type: 'object', properties: { success: { type: 'boolean' }, ...properties } } }
}
