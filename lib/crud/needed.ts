/**
 * Fields that an override needs beside those that the client has asked for. The model answers both in one text; here
 * they are taken apart, so that what the client didn't ask for is never within its answer.
 */

/** Values by the names of clients. */
export type Needed = Readonly<Record<string, unknown>>

export interface Parted {
	/** The text with the client's fields alone, digit for digit. */
	readonly json: string
	/** The needed fields, one object for each record. */
	readonly needed: readonly Needed[]
}

const NOTHING: Needed = Object.freeze({})

/** Of a text that holds nothing but what was asked for. */
export const UNPARTED: readonly Needed[] = Object.freeze([])

/** The needed fields of a single record. */
export function neededOf([needed = NOTHING]: readonly Needed[]): Needed {
	return needed
}

/**
 * By names, never by position: a record may lack fields, as those of a column that was dropped.
 *
 * @param json a record, or an array of records
 * @param own names that the client has asked for: members with other names are left out
 * @param names those that are needed, among `own` or not
 */
export function part(json: string, own: readonly string[], names: readonly string[]): Parted {
	const clients = new Set(own)
	const needed: Needed[] = []
	let text = ''
	let from = 0
	eachRecord(json, (marks, end) => {
		const [begin = 0] = marks
		// What JSON.parse makes is an object, as records are.
		const whole = JSON.parse(json.slice(begin, end)) as Record<string, unknown>
		needed.push(
			Object.fromEntries(
				names.filter((name) => Object.hasOwn(whole, name)).map((name) => [name, whole[name]]),
			),
		)
		text += json.slice(from, begin + 1) + membersOf(json, marks, clients)
		from = end - 1
	})
	return { json: text + json.slice(from), needed }
}

/** The members whose names are among those, as they are written; neighbours are taken together. */
function membersOf(json: string, marks: readonly number[], names: ReadonlySet<string>): string {
	let text = ''
	let before = marks[0] ?? 0
	let from: number | undefined
	const take = (to: number) => {
		if (from === undefined) return
		text += `${text === '' ? '' : ','}${json.slice(from, to)}`
		from = undefined
	}
	for (let at = 1; at < marks.length; at++) {
		const after = marks[at] ?? json.length
		if (names.has(nameOf(json, before, after))) from ??= before + 1
		else take(before)
		before = after
	}
	take(before)
	return text
}

/** The name of the member between two marks; `''` where there is none, as in `{}`. */
function nameOf(json: string, before: number, after: number): string {
	const start = json.indexOf('"', before)
	if (start < 0 || start > after) return ''
	const end = endOfString(json, start)
	const name = json.slice(start + 1, end)
	return name.includes('\\') ? String(JSON.parse(json.slice(start, end + 1))) : name
}

/**
 * Tells of each record what stands around its members, which is its opening brace, the commas between them and its
 * closing brace, and where it ends.
 */
function eachRecord(json: string, tell: (marks: readonly number[], end: number) => void): void {
	const level = json.trimStart().startsWith('[') ? 2 : 1
	let depth = 0
	let marks: number[] = []
	for (let at = 0; at < json.length; at++) {
		const char = json[at]
		if (char === '"') at = endOfString(json, at)
		else if (char === '{' || char === '[') {
			if (++depth === level) marks = [at]
		} else if (char === '}' || char === ']') {
			if (depth-- !== level) continue
			marks.push(at)
			tell(marks, at + 1)
		} else if (char === ',' && depth === level) marks.push(at)
	}
}

/** Where the string ends that begins at `start`. */
function endOfString(json: string, start: number): number {
	for (let at = start + 1; at < json.length; at++) {
		const char = json[at]
		if (char === '\\') at++
		else if (char === '"') return at
	}
	return json.length
}
