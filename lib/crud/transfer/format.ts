/**
 * The formats of exports and imports: which one a request asks for, by `Accept`, and which one a body has, by
 * `Content-Type`. Called by `asked.ts`, `export.ts` and `import.ts`.
 */
import { attached } from '../../base/attached.ts'
import { RestError } from '../../base/error.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { preferredToJson } from '../../request/accept.ts'
import { parseMediaType, requireUtf8 } from '../../request/body/content-type.ts'
import type { CrudPlan } from '../plan.ts'

/** One record a line, as JSON or as CSV. */
export type Format = 'ndjson' | 'csv'

/** The types that clients may name; an answer has the first one of its format. */
const TYPES = {
	'application/x-ndjson': 'ndjson',
	'text/csv': 'csv',
	'application/ndjson': 'ndjson',
	'application/jsonl': 'ndjson',
} as const

const NAMES = Object.keys(TYPES) as readonly (keyof typeof TYPES)[] // its own keys

/** The types of exports and imports in descriptions. */
export const MEDIA_TYPES: readonly string[] = NAMES.slice(0, 2)

/**
 * The format of an export; `undefined` for a list. Where records can only be exported, all requests are for exports.
 */
export function exportFormat({ allow }: CrudPlan, { action, headers }: Exchange): Format | undefined {
	if (!allow.has('export') || (action?.name !== 'list' && action?.name !== 'export')) return undefined
	const type = preferredToJson(headers.accept, NAMES)
	if (type !== undefined) return TYPES[type]
	return action.name === 'export' ? 'ndjson' : undefined
}

const EXPORT: unique symbol = Symbol('verbena.exportPlan')

/** The plan for parsing the query of an export: without page parameters, and without a maximum for `limit`. */
export function exportPlan(plan: CrudPlan): CrudPlan {
	return attached(plan, EXPORT, () => {
		const parameters = plan.parameters.filter((name) => name !== 'cursor' && name !== 'offset')
		const unlimited = { value: Number.POSITIVE_INFINITY }
		return Object.create(plan, {
			listLimit: unlimited,
			maxLimit: unlimited,
			parameters: { value: parameters },
		}) as CrudPlan
	})
}

/** The headers of an export. @param name of the records, for the file's name */
export function exportHeaders(format: Format, name: string): Readonly<Record<string, string>> {
	const file = `${name}.${format}`
	const plain = file.replaceAll(/[^\w.-]+/g, '_')
	// RFC 6266 §4.3. Apostrophes would separate its parts.
	const exact = plain === file ? '' : `; filename*=UTF-8''${encodeURIComponent(file).replaceAll("'", '%27')}`
	return {
		'Content-Type': format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson',
		'Content-Disposition': `attachment; filename="${plain}"${exact}`,
	}
}

/** The format of an import's body. @throws RestError `unsupported_media_type` for another type, charset or coding */
export function importFormat({ headers }: Exchange): Format {
	const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers
	const media = type === '' ? undefined : parseMediaType(type)
	const name = NAMES.find((one) => one === media?.type)
	if (media === undefined || name === undefined)
		throw new RestError('unsupported_media_type', `An import must be ${MEDIA_TYPES.join(' or ')}`, {
			headers: { Accept: MEDIA_TYPES.join(', ') },
		})
	requireUtf8(media)
	if (coding.trim().toLowerCase() === 'identity') return TYPES[name]
	throw new RestError('unsupported_media_type', 'A Content-Encoding is not supported: send the plain text')
}
