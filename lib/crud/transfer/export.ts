/**
 * `export`: all records of a list, in a format that `Accept` names: `GET /?state=public` with `text/csv`. They are read page by
 * page, by keyset, each when the client has read what was sent: between pages, no connection to the database is held, and only
 * one page is in memory. Called by `operations.ts`.
 */
import { isRestError } from '../../base/error.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { exchangeOf } from '../../handler/view.ts'
import type { Value } from '../../models/model.ts'
import { RawJson } from '../../wire/raw-json.ts'
import { CrudPage, sentValue, stripped, textInList } from '../answers.ts'
import { queryOf } from '../asked.ts'
import { cursorValues, keysetCursor } from '../cursor.ts'
import { itemTexts } from '../json-text.ts'
import type { CrudQuery } from '../list-query.ts'
import type { CrudPlan } from '../plan.ts'
import { listRecords, translateModelErrors } from '../reads.ts'
import { relatedAccess } from '../relations/access.ts'
import { mostRecords, NO_INCLUDE } from '../relations/parse-include.ts'
import { exportUse } from '../relations/shown.ts'
import { beginState, type CrudFacts, type CrudView, FACTS, STATE } from '../view.ts'
import { csvWriter, type RowWriter } from './csv.ts'
import { exportFormat, exportHeaders, type Format } from './format.ts'
import type { Slots } from './slots.ts'

/** Target size of a page, in UTF-16 units. */
const PAGE_LENGTH = 65_536
const FIRST_RECORDS = 100
const MAX_RECORDS = 5_000

/** Checks the rule for exports, if `access` has one besides that for lists. */
export async function checkExport(exchange: Exchange, { handler, plan }: CrudFacts): Promise<void> {
	if (exchange.action?.name === 'export' || exportFormat(plan, exchange) === undefined) return
	const use = exportUse(handler)
	if (use?.operation === 'export') await relatedAccess(exchange).check(use)
}

/** Serves an export. */
export function exportAll(view: CrudView, format: Format, slots: Slots): AsyncIterable<string> {
	const exchange = exchangeOf(view, 'export')
	const { plan } = view[FACTS]
	const name = exchange.mount?.path.at(-1) ?? plan.model.name
	for (const [header, value] of Object.entries(exportHeaders(format, name))) view.header(header, value)
	return exported(view, exchange, format, slots)
}

async function* exported(
	view: CrudView,
	exchange: Exchange,
	format: Format,
	slots: Slots,
): AsyncGenerator<string, void> {
	// Taken here, when the first page is read: a generator that is never read would never release it.
	const release = slots.take(exchange)
	try {
		const query = queryOf(view, exchange)
		const { head, row, tail } = rowWriter(format, view[FACTS].plan, query)
		let text = head
		let records = 0
		for await (const page of pagesOf(view, exchange, query)) {
			for (const record of page) text += row(record)
			records += page.length
			if (text !== '') yield text
			text = ''
		}
		text += tail(records)
		if (text !== '') yield text
	} finally {
		release()
	}
}

/** The records of each page, as JSON. */
async function* pagesOf(
	view: CrudView,
	exchange: Exchange,
	query: CrudQuery,
): AsyncGenerator<readonly string[], void> {
	const { plan } = view[FACTS]
	const ends = new WeakMap<object, string>()
	const state = beginState(view, { selection: query.selection, include: NO_INCLUDE })
	Object.assign(state, { ends })
	const size = new PageSize(mostRecords(query.include ?? NO_INCLUDE))
	let left = query.limit
	let end: string | undefined
	let after: readonly Value[] | undefined
	while (left > 0) {
		const limit = Math.min(left, size.records)
		const asked = { ...query, limit, after, total: query.total && after === undefined }
		const answer = await readPage(view, asked, size)
		if (answer === undefined) continue
		// The method has called this.error().
		if (exchange.failure !== undefined) throw exchange.failure
		const page = answer instanceof CrudPage ? answer.meta : view[STATE].page
		if (after === undefined && page?.total !== undefined && page.more === undefined)
			view.header('X-Total-Count', String(page.total))
		const records = recordsOf(view, answer)
		yield records
		left -= records.length
		size.adapt(records)
		const next = page === undefined ? undefined : ends.get(page)
		if (next === undefined) return
		// An overridden list() that returned the same page again and again would never end.
		if (next === end) throw notNext(plan)
		end = next
		after = cursorValues(keysetCursor(query.stamp, next), query.stamp, query.order, plan.fields)
	}
}

/** A page; `undefined` if it would be too large: `size` is then smaller, for another attempt. */
async function readPage(view: CrudView, query: CrudQuery, size: PageSize): Promise<unknown> {
	try {
		const isOverridden = view[FACTS].overridden.has('list')
		const asked = { ...query, after: undefined }
		const list = () => translateModelErrors(view, 'list', () => view.list(query), undefined, {}, asked)
		return (await (isOverridden ? list() : listRecords(view, query))) ?? null
	} catch (error) {
		if (!isRestError(error) || error.code !== 'too_large' || query.limit === 1) throw error
		size.shrink(query.limit)
		return undefined
	}
}

/** @throws TypeError for anything but a list, which an overridden `list()` may return */
function recordsOf(view: CrudView, answer: unknown): readonly string[] {
	const value = stripped(view, sentValue(answer))
	if (value instanceof RawJson && value.text.trimStart().startsWith('[')) return itemTexts(value.text)
	if (Array.isArray(value)) return value.map(textInList)
	throw new TypeError(
		`${view[FACTS].plan.owner}.list() must return a list of records, so that they can be exported`,
	)
}

function notNext({ owner }: CrudPlan): TypeError {
	return new TypeError(
		`${owner}.list() has returned the same page twice: it must pass the query's limit and position on to super.list()`,
	)
}

/** How many records a page has, so that it has about PAGE_LENGTH characters. */
class PageSize {
	readonly #max: number
	records: number

	constructor(max: number) {
		this.#max = Math.max(1, Math.min(max, MAX_RECORDS))
		this.records = Math.min(FIRST_RECORDS, this.#max)
	}

	adapt(page: readonly string[]): void {
		let length = 0
		for (const record of page) length += record.length
		const each = Math.max(1, length / Math.max(1, page.length))
		const grown = Math.min(Math.floor(PAGE_LENGTH / each), 4 * this.records, this.#max)
		this.records = Math.max(1, grown)
	}

	shrink(limit: number): void {
		this.records = Math.max(1, Math.floor(limit / 4))
	}
}

/** @throws RestError `bad_request` for CSV with lists in it */
function rowWriter(format: Format, plan: CrudPlan, query: CrudQuery): RowWriter {
	return format === 'csv' ? csvWriter(plan, query) : NDJSON
}

const NDJSON: RowWriter = {
	head: '',
	// Some databases keep the line breaks of a JSON value. Within a string, JSON has none.
	row: (record) => `${/[\r\n]/.test(record) ? record.replaceAll(/[\r\n]+/g, ' ') : record}\n`,
	tail: (records) => `{"done":${records}}\n`,
}
