/**
 * Values for fast-check, good and bad, of the fields of `stores.ts`: those about which the databases agree, of
 * ASCII, finite doubles, decimals of two digits, milliseconds, times of whole seconds.
 */
import fc from 'fast-check'

/** Placeholder for the id of the n-th created record, as each store has its own ids. */
const NTH = (n: number) => `{{${n}}}`

export const text = fc.oneof(
	fc.stringMatching(/^[ab1]([ab1 ]{0,4}[ab1])?$/),
	fc.stringMatching(/^[a-z0-9]([a-z0-9 ]{0,20}[a-z0-9])?$/),
	// All printable characters, in both cases, except those that look like a placeholder.
	fc.stringMatching(/^[ -~]{0,16}$/).filter((any) => !/\{\{\d/.test(any)),
	fc.constantFrom('', 'a', 'A', 'aB', 'ab', 'a_', 'a%', 'a ', ' a'),
)
const whole = fc.integer({ min: -3, max: 5 })
const float = fc.constantFrom(0, 0.1, 1.5, -2.25, 1e21, 1 / 3, 1e-7, 123456789.123, 1.7976931348623157e308)
const price = fc.integer({ min: 1000, max: 9999 }).map((cents) => (cents / 100).toFixed(2))
const day = fc.constantFrom('2026-11-20', '2026-11-21', '2000-02-29', '1970-01-01', '9999-12-31')
const at = fc.constantFrom(
	...['2026-11-20T00:00:00.000Z', '2026-11-20T00:00:00.001Z', '2026-11-20T01:00:00.001+01:00'],
	...['2000-02-29T23:59:59.999Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
)
export const nth = fc.integer({ min: 0, max: 6 }).map(NTH)
const stock = fc.oneof(fc.integer({ min: -3, max: 5 }), fc.constantFrom(2_147_483_647, -2_147_483_648))
const clock = fc.constantFrom('00:00:00', '09:59:59', '10:00:00', '13:45:00', '23:59:59')
const token = fc.oneof(
	// MariaDB orders versions up to 5 differently, and doesn't accept version 8.
	fc.uuid({ version: [6, 7] }),
	fc.constantFrom('0189C7C2-7B1E-7C3E-9B1A-2F6D5F1C0A3B', '0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3b'),
	fc.constantFrom('00000000-0000-0000-0000-000000000001', 'ffffffff-7b1e-7c3e-9b1a-2f6d5f1c0a3b'),
)
const data = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64'))
const json = fc
	.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', 'B', '1', ' ', '"', '\\', '/') })
	.filter(
		// jsonb keeps all digits of a double, but expands 1e300; -0 becomes 0.
		(value) => !/e|-0[^.]|-0$/.test(JSON.stringify(value)),
	)

/** Valid JSON values of each writable field. */
const GOOD: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
	title: text,
	note: fc.option(text),
	rank: fc.option(fc.oneof(whole, fc.constantFrom('9007199254740993', '-9223372036854775808'))),
	ratio: fc.option(float),
	price: fc.option(price),
	done: fc.option(fc.boolean()),
	day: fc.option(day),
	at: fc.option(at),
	extra: fc.option(json),
	stock: fc.option(stock),
	clock: fc.option(clock),
	token: fc.option(token),
	data: fc.option(data),
	status: fc.constantFrom('draft', 'public', ''),
	code: fc.option(fc.constantFrom('a', 'A', 'b', 'c d', 'C d', 'f 1'), { freq: 1 }),
	secret: fc.option(text),
	parent: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: nth }),
}
export const good = (name: string): fc.Arbitrary<unknown> =>
	Object.hasOwn(GOOD, name) ? (GOOD[name] ?? text) : text
export const FIELDS = Object.keys(GOOD)
export const STRANGERS = ['pin', 'owner', 'version', 'id', 'nothing', '__proto__', 'constructor', 'limit', '']
const BAD = fc.constantFrom<unknown>(
	...[-1.5, 1e300, '9223372036854775808', '\0', '\ud800', [], {}, [77_777_777], { a: 1 }, 'x'.repeat(201)],
	...['2026-02-30', '2026-11-20', '25:00', '0x10', ' 1', '1e3', 'NaN', true, '', 'ü', null, 0],
)

/** Numbers that all stores accept, but store differently: more digits than a column has, and NaN. */
export const bad = (name: string): fc.Arbitrary<unknown> =>
	name !== 'price' && name !== 'ratio'
		? BAD
		: BAD.filter((value) => value !== 'NaN' && (name === 'ratio' || !/^-?\d/.test(String(value))))

/** Valid values of the fields of `parts.ts`, among them texts with what separates and encodes the values of an id. */
const GOOD_PARTS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
	day: fc.oneof(
		{ weight: 7, arbitrary: fc.constant('2026-11-20') },
		{ weight: 1, arbitrary: fc.constantFrom('2026-11-21', '0001-01-01', '9999-12-31') },
	),
	tag: fc.oneof(
		{ weight: 8, arbitrary: fc.constantFrom('a', 'a', 'A', 'a,b') },
		{
			weight: 1,
			arbitrary: fc.constantFrom('', ',', '%', '%2C', 'a%2Cb', 'a ', '.', '..', '/', '?', '#', '"'),
		},
		{ weight: 1, arbitrary: fc.constantFrom('é', '漢', '😀', 'null', '1', "'; --", '{', 'x'.repeat(20)) },
	),
	n: fc.constantFrom(0, 1, 1, 2, -1),
	title: text,
	note: fc.option(text),
	rank: fc.option(whole),
}
export const goodPart = (name: string): fc.Arbitrary<unknown> =>
	Object.hasOwn(GOOD_PARTS, name) ? (GOOD_PARTS[name] ?? text) : text
export const PART_FIELDS = Object.keys(GOOD_PARTS)
