/** What a `MemoryModel` is declared with, and its fields made of it; mistakes are refused in words. */
import {
	flag,
	listOf,
	nearest,
	nested,
	oneOf,
	optional,
	or,
	type Readers,
	text,
	unchecked,
	wholeNumber,
} from '../../base/options.ts'
import { RawJson } from '../../wire/raw-json.ts'
import type { Field, FieldType } from '../model.ts'
import { storedOf } from './stored.ts'

/** A field of a `MemoryModel`. */
export interface MemoryField {
	readonly type: FieldType
	/** @default false */
	readonly nullable?: boolean
	/** The value of a new record that has none, or a function that is asked for it each time. */
	readonly default?: unknown
	/** Whether only the default writes it. @default false */
	readonly generated?: boolean
	/** Most characters of a `text`. No default: any length. */
	readonly maxLength?: number
	/** The texts there are to choose from. */
	readonly choices?: readonly string[]
	/** Least and greatest of an `integer` or a `bigint`. @default what the type holds */
	readonly min?: number | bigint
	readonly max?: number | bigint
	/** Whether a `bigint` is written as a string of digits. @default false */
	readonly asText?: boolean
}

/** A field, with what gives it its value in a new record. */
export interface OwnField extends Field {
	/** Answers the default; `undefined` where there is none, also for keys that are made. */
	readonly initial: (() => unknown) | undefined
}

const TYPES = [
	...(['boolean', 'integer', 'bigint', 'float', 'decimal', 'text', 'uuid', 'other'] as const),
	...(['date', 'time', 'timestamp', 'json', 'bytes'] as const),
]
const members = nested(
	"{ type: 'text', maxLength: 200 }",
	{
		type: oneOf<FieldType>(...TYPES),
		nullable: or(flag, false),
		default: unchecked,
		generated: or(flag, false),
		maxLength: optional(wholeNumber({ from: 0 })),
		choices: optional(listOf('a list of texts', text)),
		min: unchecked<number | bigint | undefined>,
		max: unchecked<number | bigint | undefined>,
		asText: or(flag, false),
	} satisfies Readers<MemoryField>,
	'a type, or an object with one',
)
const KEY_TYPES: readonly FieldType[] = ['integer', 'bigint', 'uuid', 'text']

/**
 * The fields as they were declared.
 *
 * @param place what the messages begin with: `MemoryModel 'article'`
 * @throws TypeError for an unknown type or member, a key that can be none, a default that doesn't fit
 */
export function fieldsOf(
	place: string,
	declared: Readonly<Record<string, FieldType | MemoryField>>,
	key: string,
): OwnField[] {
	if (typeof declared !== 'object' || declared === null) {
		throw new TypeError(`${place} needs fields: { id: 'integer', title: 'text' }, got ${String(declared)}`)
	}
	const fields = Object.entries(declared).map(([name, given]) =>
		fieldOf(`${place}: field ${name}`, name, given, name === key),
	)
	const own = fields.find(({ name }) => name === key)
	if (own === undefined) {
		const names = nearest(String(key), Object.keys(declared))
		throw new TypeError(`${place}: its key ${String(key)} is none of its fields${names}`)
	}
	if (!KEY_TYPES.includes(own.type) || own.nullable) {
		const found = own.nullable ? `nullable` : own.type
		throw new TypeError(
			`${place}: its key ${key} is ${found}; a key is integer, bigint, uuid or text, and not nullable`,
		)
	}
	return fields
}

function fieldOf(place: string, name: string, declared: unknown, isKey: boolean): OwnField {
	const given = members(place, typeof declared === 'string' ? { type: declared } : declared)
	const { type, nullable, generated, default: initial, maxLength, choices, min, max } = given
	if (maxLength !== undefined && type !== 'text')
		throw new TypeError(`${place}: maxLength is for text, not for ${type}`)
	if (choices !== undefined && !(type === 'text' || type === 'other'))
		throw new TypeError(`${place}: choices are for text, not for ${type}`)
	if ((min !== undefined || max !== undefined) && !(type === 'integer' || type === 'bigint'))
		throw new TypeError(`${place}: min and max are for integer and bigint, not for ${type}`)
	const isMade = isKey && type !== 'text'
	if (generated && initial === undefined && !isMade) {
		throw new TypeError(`${place} is generated, so that it needs a default`)
	}
	const field = {
		...{ name, type, nullable, generated },
		hasDefault: initial !== undefined || isMade,
		...(maxLength === undefined ? {} : { maxLength }),
		...(choices === undefined ? {} : { choices }),
		...(min === undefined ? {} : { min }),
		...(max === undefined ? {} : { max }),
		...(given.asText ? { asText: true } : {}),
	}
	return { ...field, initial: initialOf(place, initial, field) }
}

function initialOf(place: string, initial: unknown, field: Field): OwnField['initial'] {
	if (initial === undefined) return undefined
	if (typeof initial === 'function') return () => initial()
	try {
		const value = storedOf(initial, field)
		// Its text would be taken for a text that JSON is to be made of.
		const kept = field.type === 'json' && typeof value === 'string' ? new RawJson(value) : value
		return () => kept
	} catch (cause) {
		throw new TypeError(`${place}: its default is no value of it; it is ${field.type}`, { cause })
	}
}
