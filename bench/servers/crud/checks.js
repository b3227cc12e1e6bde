/** Hand-written checks of articles, ids and queries. Each returns `undefined` for an invalid one. */
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

/** Copies the writable fields. */
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

/** `limit`, `offset`, `cursor`, and `sort`, of which only one value is supported. */
export function queryOf({ limit = '25', offset = '0', cursor, sort = '-created' }) {
	if (sort !== '-created' || !/^\d{1,9}$/.test(offset) || !/^\d{1,9}$/.test(limit)) return undefined
	if (cursor !== undefined && typeof cursor !== 'string') return undefined
	return { limit: Math.min(100, Number(limit)), offset: Number(offset), cursor }
}
