/** Numbers lists of columns: PostgreSQL keeps 63 characters of a statement's name, fewer than such a list has. */
export function numbers() {
	const seen = new Map()
	return (names) => {
		const key = names.join()
		const number = seen.get(key) ?? seen.size
		if (number === seen.size) seen.set(key, number)
		return number
	}
}
