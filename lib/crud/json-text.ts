/**
 * Finds records and their members in a model's JSON without parsing it, so that numbers that a double can't hold, and the
 * spelling of all other values, stay as they are. Used by `answers.ts` and `relations/`.
 */

/** Values of fields, by their names for clients. */
export type Needed = Readonly<Record<string, unknown>>

/**
 * Splits a model's JSON into the fields that the client asked for and those that `needs()` named. By name, not by position:
 * a record may lack fields, such as those of a dropped column.
 *
 * @param json a record, or an array of records
 * @param requested names that the client asked for: members with other names are left out of `json`
 * @param names names that `needs()` was given; they may be in `requested` too
 */
export function splitNeeded(
	json: string,
	requested: readonly string[],
	names: readonly string[],
): { json: string; needed: readonly Needed[] } {
	const kept = new Set(requested)
	const needed: Needed[] = []
	let text = ''
	let from = 0
	eachRecord(json, (marks, end) => {
		const [begin = 0] = marks
		const record = JSON.parse(json.slice(begin, end)) as Record<string, unknown> // a JSON object
		needed.push(
			Object.fromEntries(
				names.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]),
			),
		)
		text += json.slice(from, begin + 1) + membersOf(json, marks, kept)
		from = end - 1
	})
	return { json: text + json.slice(from), needed }
}

/** A record's text, and the texts of some of its members. */
export interface RecordText {
	/** Without the members that weren't requested. */
	readonly json: string
	/** The members' values as JSON, in the order of the names; `undefined` for one that the record lacks. */
	readonly values: readonly (string | undefined)[]
}

/**
 * The records in a model's JSON, one by one.
 *
 * @param json a record, or an array of records
 * @param requested names of the members to keep
 * @param names names of the members whose values are needed
 */
export function recordTexts(
	json: string,
	requested: readonly string[],
	names: readonly string[],
): RecordText[] {
	const kept = new Set(requested)
	const records: RecordText[] = []
	eachRecord(json, (marks, end) => {
		const values = new Map<string, string>()
		let [before = 0] = marks
		let isWhole = true
		for (const after of marks.slice(1)) {
			const name = nameOf(json, before, after)
			if (!kept.has(name)) isWhole = false
			if (names.includes(name)) values.set(name, valueAt(json, before, after))
			before = after
		}
		const text = isWhole ? json.slice(marks[0], end) : `{${membersOf(json, marks, kept)}}`
		records.push({ json: text, values: names.map((name) => values.get(name)) })
	})
	return records
}

/** The texts of the items of a JSON array. */
export function itemTexts(json: string): string[] {
	const items: string[] = []
	let depth = 0
	let from = 0
	for (let at = 0; at < json.length; at++) {
		const char = json[at]
		if (char === '"') at = endOfString(json, at)
		else if (char === '{' || char === '[') {
			if (++depth === 1) from = at + 1
		} else if (char === '}' || char === ']') depth--
		if (depth > 1 || (depth === 1 && char !== ',')) continue
		const item = json.slice(from, at).trim()
		if (item !== '') items.push(item)
		from = at + 1
	}
	return items
}

/** The members of a JSON object, by name: the texts of their values. Empty for another value. */
export function memberTexts(json: string): ReadonlyMap<string, string> {
	const members = new Map<string, string>()
	if (!json.trimStart().startsWith('{')) return members
	eachRecord(json, ([before = 0, ...marks]) => {
		for (const after of marks) {
			if (json.slice(before + 1, after).trim() !== '')
				members.set(nameOf(json, before, after), valueAt(json, before, after))
			before = after
		}
	})
	return members
}

/** Appends members to a record's text, each a name and its value as JSON. */
export function withMembers(
	record: string,
	members: readonly (readonly [name: string, json: string])[],
): string {
	const before = record.slice(0, record.lastIndexOf('}')).trimEnd()
	const added = members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join()
	return `${before}${before === '{' || added === '' ? '' : ','}${added}}`
}

/** The text of the members with these names; adjacent members are copied at once. */
function membersOf(json: string, marks: readonly number[], names: ReadonlySet<string>): string {
	let text = ''
	let before = marks[0] ?? 0
	let from: number | undefined
	const copy = (to: number) => {
		if (from === undefined) return
		text += `${text === '' ? '' : ','}${json.slice(from, to)}`
		from = undefined
	}
	for (let at = 1; at < marks.length; at++) {
		const after = marks[at] ?? json.length
		if (names.has(nameOf(json, before, after))) from ??= before + 1
		else copy(before)
		before = after
	}
	copy(before)
	return text
}

/** The value of the member between two marks. */
function valueAt(json: string, before: number, after: number): string {
	const end = endOfString(json, json.indexOf('"', before))
	return json.slice(json.indexOf(':', end) + 1, after).trim()
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
 * Calls `visit` for each record with the positions of its opening brace, of the commas between its members and of its
 * closing brace, and with the position after it.
 */
function eachRecord(json: string, visit: (marks: readonly number[], end: number) => void): void {
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
			visit(marks, at + 1)
		} else if (char === ',' && depth === level) marks.push(at)
	}
}

/** The position of the quote that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
	for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
		let slashes = 0
		while (json[at - 1 - slashes] === '\\') slashes++
		if (slashes % 2 === 0) return at
	}
	return json.length
}
