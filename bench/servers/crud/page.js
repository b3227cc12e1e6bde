/** Paging by hand: reads one row more than requested; the cursor is made of the last row on the page. */

/** `store` reads rows; `query` has `limit`, and `offset` or `cursor`. Returns the members of the envelope. */
export async function pageOf(store, { limit, offset, cursor }) {
	const rows = await (cursor === undefined
		? store.list(limit + 1, offset)
		: store.listAfter(limit + 1, ...JSON.parse(Buffer.from(cursor, 'base64url').toString())))
	const more = rows.length > limit
	if (more) rows.pop()
	const next = more ? cursorOf(rows[limit - 1]) : null
	return { success: true, data: rows, meta: { limit, offset, next } }
}

export function cursorOf({ created, id }) {
	return Buffer.from(JSON.stringify([created, id])).toString('base64url')
}
