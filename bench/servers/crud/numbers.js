/** Short names for lists of columns: PostgreSQL truncates a statement's name at 63 characters, so the list can't be the name. */
export function numbers() {
	const seen = new Map()
	return (names) => {
		const key = names.join()
		const number = seen.get(key) ?? seen.size
		if (number === seen.size) seen.set(key, number)
		return number
	}
}
