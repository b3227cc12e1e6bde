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
	let row = Array.from({ length: b.length + 1 }, (_, at) => at)
	for (let i = 1; i <= a.length; i++) {
		const next = [i]
		for (let j = 1; j <= b.length; j++) {
			const same = a[i - 1] === b[j - 1] ? 0 : 1
			next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same))
		}
		row = next
	}
	return row[b.length] ?? 0
}
