/** What somebody writes by hand to check articles, ids and queries. Each answers `undefined` for a bad one. */
const isInteger = (value) => Number.isInteger(value) && Math.abs(value) <= 2147483647
const isText = (most) => (value) => typeof value === 'string' && value !== '' && value.length <= most

const COLUMNS = new Map([
	['author_id', isInteger],
	['title', isText(200)],
	['body', (value) => typeof value === 'string'],
	['status', isText(20)],
	['views', isInteger],
	['rating', (value) => value === null || Number.isFinite(value)],
	['published', (value) => typeof value === 'boolean'],
])
const REQUIRED = ['author_id', 'title', 'body', 'status']

/** Copies the fields that can be written. */
export function articleOf(body, whole) {
	if (typeof body !== 'object' || body === null) return undefined
	if (whole && REQUIRED.some((name) => body[name] === undefined)) return undefined
	const values = {}
	for (const [name, value] of Object.entries(body)) {
		if (COLUMNS.get(name)?.(value) !== true) return undefined
		values[name] = value
	}
	return values
}

export function idOf(text) {
	return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}

/** `limit`, `offset`, `cursor` and the one sort there is. */
export function queryOf({ limit = '25', offset = '0', cursor, sort = '-created' }) {
	if (sort !== '-created' || !/^\d{1,9}$/.test(offset) || !/^\d{1,9}$/.test(limit)) return undefined
	if (cursor !== undefined && typeof cursor !== 'string') return undefined
	return { limit: Math.min(100, Number(limit)), offset: Number(offset), cursor }
}
