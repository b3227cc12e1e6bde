/** The declared fields of a `MemoryModel`, checked and completed. */
import {
	flag,
	listOf,
	nearest,
	nested,
	oneOf,
	optional,
	or,
	type Readers,
	refusal,
	text,
	unchecked,
	wholeNumber,
} from '../../base/options.ts'
import { RawJson } from '../../wire/raw-json.ts'
import { isKeyType, KEY_TYPES_TEXT } from '../key.ts'
import type { Field, FieldType } from '../model.ts'
import { storedOf } from './stored.ts'

/** A field of a `MemoryModel`. */
export interface MemoryField {
	readonly type: FieldType
	/** @default false */
	readonly nullable?: boolean
	/** The value for new records that have none, or a function that returns it. */
	readonly default?: unknown
	/** Whether the field always has its default and can't be written. @default false */
	readonly generated?: boolean
	/** Maximum length of a `text`, in characters. No default: any length. */
	readonly maxLength?: number
	/** The allowed texts. */
	readonly choices?: readonly string[]
	/** Minimum and maximum of an `integer` or a `bigint`. @default the range of the type */
	readonly min?: number | bigint
	readonly max?: number | bigint
	/** Whether a `bigint` is written as a string of digits. @default false */
	readonly asText?: boolean
}

export interface DeclaredField extends Field {
	/** Returns the default; `undefined` if there is none, or if the store generates the key. */
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
/** Types for which the store makes a key that isn't given. */
const GENERATED: readonly FieldType[] = ['integer', 'bigint', 'uuid']

/**
 * Checks the declared fields.
 *
 * @param place prefix of messages: `MemoryModel 'article'`
 * @param identifying the fields of the key, of unique ones and of foreign ones
 * @throws TypeError for an unknown type or option, a field that can't be the key, or a default that doesn't fit
 */
export function fieldsOf(
	place: string,
	declared: Readonly<Record<string, FieldType | MemoryField>>,
	key: readonly string[],
	identifying: readonly string[],
): DeclaredField[] {
	if (typeof declared !== 'object' || declared === null) {
		throw new TypeError(`${place} needs fields: { id: 'integer', title: 'text' }, got ${String(declared)}`)
	}
	if (!Array.isArray(key)) throw refusal(`${place}: key`, 'a field or a list of fields', key)
	const fields = Object.entries(declared).map(([name, given]) =>
		fieldOf(`${place}: field ${name}`, name, given, key, identifying),
	)
	for (const [at, name] of key.entries()) {
		const own = fields.find((field) => field.name === name)
		if (own === undefined) {
			const names = nearest(String(name), Object.keys(declared))
			throw new TypeError(`${place}: its key ${String(name)} is not one of its fields${names}`)
		}
		if (key.indexOf(name) !== at) throw new TypeError(`${place}: its key names ${name} twice`)
		if (isKeyType(own.type) && !own.nullable) continue
		const found = own.nullable ? `nullable` : own.type
		throw new TypeError(
			`${place}: its key ${name} is ${found}; a key must be ${KEY_TYPES_TEXT}, and not nullable`,
		)
	}
	return fields
}

function fieldOf(
	place: string,
	name: string,
	declared: unknown,
	key: readonly string[],
	identifying: readonly string[],
): DeclaredField {
	const given = members(place, typeof declared === 'string' ? { type: declared } : declared)
	const { type, nullable, generated, default: initial, maxLength, choices, min, max } = given
	if (maxLength !== undefined && type !== 'text')
		throw new TypeError(`${place}: maxLength is for text, not for ${type}`)
	if (choices !== undefined && !(type === 'text' || type === 'other'))
		throw new TypeError(`${place}: choices are for text, not for ${type}`)
	if ((min !== undefined || max !== undefined) && !(type === 'integer' || type === 'bigint'))
		throw new TypeError(`${place}: min and max are for integer and bigint, not for ${type}`)
	const isKey = key.includes(name)
	const isGeneratedKey = isKey && key.length === 1 && GENERATED.includes(type)
	if (generated && initial === undefined && !isGeneratedKey) {
		throw new TypeError(`${place} is generated, so it needs a default`)
	}
	const field = {
		...{ name, type, nullable, generated },
		hasDefault: initial !== undefined || isGeneratedKey,
		...(maxLength === undefined ? {} : { maxLength }),
		...(choices === undefined ? {} : { choices }),
		...(min === undefined ? {} : { min }),
		...(max === undefined ? {} : { max }),
		...(given.asText ? { asText: true } : {}),
		...(type === 'timestamp' && identifying.includes(name) ? { allDigits: true } : {}),
	}
	return { ...field, initial: initialOf(place, initial, field) }
}

function initialOf(place: string, initial: unknown, field: Field): DeclaredField['initial'] {
	if (initial === undefined) return undefined
	if (typeof initial === 'function') return () => initial()
	try {
		const value = storedOf(initial, field)
		// A plain string would be encoded as JSON again.
		const kept = field.type === 'json' && typeof value === 'string' ? new RawJson(value) : value
		return () => kept
	} catch (cause) {
		throw new TypeError(`${place}: its default is not a valid ${field.type}`, { cause })
	}
}
