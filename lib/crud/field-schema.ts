/** JSON Schemas of a field's values: as they are answered, as they are written, and as a query compares with them. */

import type { Field } from '../models/model.ts'
import type { JsonSchema, JsonType } from '../validate/schema/json-schema.ts'
import { patternOf } from '../validate/schema/plan-schema.ts'
import { DECIMAL, TIME, WHOLE } from './value-from-text.ts'

/** Numbers that JSON can't write. */
const NOT_FINITE: JsonSchema = { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] }
const SOMETHING: readonly JsonType[] = ['string', 'number', 'boolean', 'array', 'object']

/** The schema of a value in an answer. */
export function answeredSchema(field: Field): JsonSchema {
	const schema = valueSchema(field)
	return field.nullable ? orNull(schema) : schema
}

/** The schema of a value that a body gives for a field, null aside. */
export function writtenSchema(field: Field): JsonSchema {
	switch (field.type) {
		case 'bigint':
			return { type: ['integer', 'string'], format: 'int64', pattern: WHOLE.source, ...boundsOf(field) }
		case 'decimal':
			return orBesides(field, { type: ['string', 'number'], format: 'decimal', pattern: DECIMAL.source })
		case 'time':
			return orBesides(field, { type: 'string', pattern: TIME.source })
		case 'json':
			return { type: SOMETHING }
		default:
			return valueSchema(field)
	}
}

/**
 * The schema of a value that a query compares a field with, or of an id. It has no `maxLength`: a text that is too long to
 * be stored can be compared with. A bigint is a number or its digits, by `anyOf`: swagger-ui sends no parameter whose
 * `type` is a list.
 */
export function operandSchema(field: Field): JsonSchema {
	if (field.type === 'decimal')
		return orBesides(field, { type: 'string', format: 'decimal', pattern: DECIMAL.source })
	const { maxLength: _length, ...schema } = writtenSchema(field)
	if (field.type !== 'bigint') return schema
	const digits = { type: 'string', pattern: WHOLE.source } as const
	return { anyOf: [{ type: 'integer', format: 'int64', ...boundsOf(field) }, digits] }
}

/** The same schema, or null. */
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
			if (field.asText === true) return { type: 'string', format: 'int64', pattern: WHOLE.source }
			return { type: 'integer', format: 'int64', ...boundsOf(field) }
		case 'float':
			return { anyOf: [{ type: 'number' }, NOT_FINITE] }
		case 'decimal':
			return orBesides(field, { type: 'string', format: 'decimal' })
		case 'text':
			return textSchema(field)
		case 'other':
			return { type: 'string' }
		case 'timestamp':
			return orBesides(field, { type: 'string', format: 'date-time' })
		case 'time':
			return orBesides(field, { type: 'string', format: 'time-local' })
		case 'date':
			return orBesides(field, { type: 'string', format: 'date' })
		case 'uuid':
			return { type: 'string', format: 'uuid' }
		case 'json':
			return {}
		case 'bytes':
			return { type: 'string', contentEncoding: 'base64' }
	}
}

/** The schema of its type, or of other texts that the store may hold: `infinity` is not a `date-time`. */
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

/** Bounds that a double can't hold exactly are left out: a reader would take them for others. */
function boundsOf({ min, max }: Field): JsonSchema {
	return {
		...(isExact(min) ? { minimum: Number(min) } : {}),
		...(isExact(max) ? { maximum: Number(max) } : {}),
	}
}

function isExact(bound: number | bigint | undefined): boolean {
	return bound !== undefined && Number.isSafeInteger(Number(bound))
}
