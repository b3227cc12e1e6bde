/** Suggests, for a name that was mistyped, the one that was meant. */

/** `: did you mean get_article?`, or the names there are. */
export function nearest(name: string, names: Iterable<string>): string {
	const all = [...names]
	let best: string | undefined
	let least = Math.max(2, Math.floor(name.length / 3)) + 1
	for (const candidate of all) {
		const distance = editDistance(name, candidate)
		if (distance < least) [best, least] = [candidate, distance]
	}
	if (best !== undefined) return `: did you mean ${best}?`
	return all.length === 0 ? '' : `; there are ${all.slice(0, 20).join(', ')}`
}

/** Levenshtein's distance, row by row. */
function editDistance(a: string, b: string): number {
	let row = Array.from({ length: b.length }, (_, at) => at + 1)
	let distance = b.length
	for (let i = 0; i < a.length; i++) {
		let [diagonal, left] = [i, i + 1]
		row = row.map((above, j) => {
			left = Math.min(above + 1, left + 1, diagonal + (a[i] === b[j] ? 0 : 1))
			diagonal = above
			return left
		})
		distance = left
	}
	return distance
}
