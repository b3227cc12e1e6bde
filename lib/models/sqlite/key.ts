/** `keyOf`: the column by which a table's records are told apart. Called by `introspect.ts`. */
import { nearest } from '../../base/options.ts'
import { quoted } from './dialect.ts'
import type { Ask, Info, Listing } from './listing.ts'

/**
 * The primary key of one column, or the column that is wanted.
 *
 * @throws TypeError where there is none, or it doesn't tell the records apart
 */
export function keyOf(
	ask: Ask,
	listing: Listing,
	infos: readonly Info[],
	inKey: readonly Info[],
	wanted: string | undefined,
): string {
	const { name, isView } = listing
	const [only, ...others] = inKey
	const own = others.length === 0 ? only?.name : undefined
	if (wanted !== undefined) {
		if (!infos.some((info) => info.name === wanted)) {
			const names = infos.map((info) => info.name)
			throw new TypeError(`key ${JSON.stringify(wanted)} is no column of ${name}${nearest(wanted, names)}`)
		}
		// What a view holds is in no index: there, whoever names the key answers for it.
		if (isView || wanted === own) return wanted
		const unique = uniqueAlone(ask, listing, infos)
		if (unique.includes(wanted)) return wanted
		throw new TypeError(
			`${wanted} can't be the key of ${name}: a key is unique by itself, and not null${choices(unique)}`,
		)
	}
	if (own !== undefined) return own
	const reason = isView
		? 'is a view'
		: others.length > 0
			? 'has a key of several columns'
			: 'has no primary key'
	const unique = isView ? [] : uniqueAlone(ask, listing, infos)
	throw new TypeError(
		`${name} ${reason}: pass { key: '…' }, a column that is unique and not null, by which its records are told apart${choices(unique)}`,
	)
}

function choices(unique: readonly string[]): string {
	return unique.length === 0 ? '' : `; it could be ${unique.join(' or ')}`
}

/**
 * Columns that are the whole of a unique index over all records, and can't be null. The index must tell apart no texts
 * that the column's own collation takes for the same: a page would end between them.
 */
function uniqueAlone(ask: Ask, listing: Listing, infos: readonly Info[]): string[] {
	const { name, schema } = listing
	const indexes = ask(
		'select name from pragma_index_list(?, ?) where "unique" = 1 and partial = 0',
		name,
		schema,
	)
	const alone = indexes.flatMap(([index]) => {
		const [first, ...more] = ask(
			'select name, upper(coll) from pragma_index_xinfo(?, ?) where key = 1',
			index,
			schema,
		)
		return first === undefined || more.length > 0 ? [] : [first]
	})
	const fit = infos.filter((info) => {
		if (!info.notNull) return false
		const collations = alone.flatMap(([column, collation]) => (column === info.name ? [collation] : []))
		if (collations.length === 0) return false
		const own = collationOf(ask, listing, info.name)
		return own === 'BINARY' || collations.includes(own)
	})
	return fit.map((info) => info.name)
}

/** SQLite tells a column's collation nowhere; but a compound select has that of its first part. */
function collationOf(ask: Ask, { schema, name }: Listing, column: string): string {
	const [row = []] = ask(
		`select x = 'A', x = 'a ' from (select ${quoted(column)} as x from ${quoted(schema)}.${quoted(name)} where 0 union all select 'a')`,
	)
	const [ignoresCase, ignoresBlanks] = row.map(Number)
	if (ignoresCase === 1) return 'NOCASE'
	return ignoresBlanks === 1 ? 'RTRIM' : 'BINARY'
}
