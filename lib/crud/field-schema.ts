/** JSON Schemas of a field's values: in a response, in a body, and as the operand of a query. */

import type { Field } from '../models/model.ts'
import { INTEGER, TIME } from '../validate/format.ts'
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import { NON_NULL_TYPES, patternOf } from '../validate/schema/plan-schema.ts'
import { DECIMAL } from './value-from-text.ts'

/** Numbers that JSON can't represent. */
const NOT_FINITE: JsonSchema = { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] }
const FORMATS = { decimal: 'decimal', timestamp: 'date-time', time: 'time-local', date: 'date' } as const

export function responseSchema(field: Field): JsonSchema {
	const schema = valueSchema(field)
	return field.nullable ? orNull(schema) : schema
}

/** The schema of a field's value in a body, without null. */
export function inputSchema(field: Field): JsonSchema {
	switch (field.type) {
		case 'bigint':
			return { type: ['integer', 'string'], format: 'int64', pattern: INTEGER.source, ...boundsOf(field) }
		case 'decimal':
			return orBesides(field, {
				type: ['string', 'number'],
				format: 'decimal',
				pattern: decimalPattern(field.digits),
				...boundsOf(field),
			})
		case 'time':
			return orBesides(field, { type: 'string', pattern: TIME.source })
		case 'json':
			return { type: NON_NULL_TYPES }
		default:
			return valueSchema(field)
	}
}

/** Matches decimals with no more digits than their column has, but for zeros at the end. */
function decimalPattern(digits: Field['digits']): string {
	if (digits === undefined || digits[1] < 0) return DECIMAL.source
	const [before, after] = digits
	const whole = before === 0 ? '0' : `(?:0|[1-9]\\d{0,${before - 1}})`
	const fraction = after === 0 ? '0+' : `\\d{1,${after}}0*`
	return `^-?${whole}(?:\\.${fraction})?$`
}

/** Texts that a URL can contain: no control characters. Without lookaheads, which Go's validators don't have. */
const ID = '^[^\\x00-\\x1f\\x7f]*$'
/** The same as a whole segment: not empty, nor one that clients would resolve, such as `..`. */
const SEGMENT = '^(?:\\.{0,2}[^.\\x00-\\x1f\\x7f]|\\.{3})[^\\x00-\\x1f\\x7f]*$'

/**
 * The schema of a key's value in a body.
 *
 * @param isAlone whether the key has no other field
 */
export function keySchema(field: Field, isAlone: boolean): JsonSchema {
	const schema = inputSchema(field)
	if (field.type !== 'text' && field.type !== 'other') return schema
	return { ...schema, pattern: isAlone ? SEGMENT : ID }
}

/**
 * The schema of an operand in a query, or of an id. It has no `maxLength`: a text that is too long to be stored can
 * still be compared. A bigint is a number or a string of digits; as `anyOf`, because swagger-ui doesn't send parameters
 * whose `type` is a list.
 */
export function operandSchema(field: Field): JsonSchema {
	if (field.type === 'decimal')
		return orBesides(field, { type: 'string', format: 'decimal', pattern: DECIMAL.source })
	const { maxLength: _length, ...schema } = inputSchema(field)
	if (field.type !== 'bigint') return schema
	const digits = { type: 'string', pattern: INTEGER.source } as const
	return { anyOf: [{ type: 'integer', format: 'int64', ...boundsOf(field) }, digits] }
}

export function orNull(schema: JsonSchema): JsonSchema {
	const { type, enum: choices, anyOf } = schema
	if (anyOf !== undefined) return { ...schema, anyOf: [...anyOf, { type: 'null' }] }
	const types = type === undefined || typeof type === 'string' ? type && [type] : type
	return {
		...schema,
		...(types === undefined ? {} : { type: [...types, 'null'] }),
		...(choices === undefined ? {} : { enum: [...choices, null] }),
	}
}

function valueSchema(field: Field): JsonSchema {
	switch (field.type) {
		case 'boolean':
			return { type: 'boolean' }
		case 'integer':
			return { type: 'integer', ...boundsOf(field) }
		case 'bigint':
			if (field.asText === true) return { type: 'string', format: 'int64', pattern: INTEGER.source }
			return { type: 'integer', format: 'int64', ...boundsOf(field) }
		case 'float':
			return { anyOf: [{ type: 'number' }, NOT_FINITE] }
		case 'text':
		case 'other':
			return textSchema(field)
		case 'decimal':
		case 'timestamp':
		case 'time':
		case 'date':
			return orBesides(field, { type: 'string', format: FORMATS[field.type] })
		case 'uuid':
			return { type: 'string', format: 'uuid' }
		case 'json':
			return {}
		case 'bytes':
			return { type: 'string', contentEncoding: 'base64' }
	}
}

/** Adds the special values of the column's type, which don't match its format: `infinity` is not a `date-time`. */
function orBesides({ besides }: Field, schema: JsonSchema): JsonSchema {
	return besides === undefined ? schema : { anyOf: [schema, { type: 'string', ...patternOf(besides) }] }
}

function textSchema({ maxLength, choices }: Field): JsonSchema {
	return {
		type: 'string',
		...(maxLength === undefined ? {} : { maxLength }),
		...(choices === undefined ? {} : { enum: choices }),
	}
}

/** Bounds that a double can't represent exactly are left out: readers would parse different numbers. */
function boundsOf({ min, max }: Field): JsonSchema {
	return {
		...(isExact(min) ? { minimum: Number(min) } : {}),
		...(isExact(max) ? { maximum: Number(max) } : {}),
	}
}

function isExact(bound: number | bigint | undefined): boolean {
	return bound !== undefined && Number.isSafeInteger(Number(bound))
}
