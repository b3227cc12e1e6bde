/** The records that foreign keys refer to: requests their names once for all rows, and shows them as links. */
import type { RelationData } from '../page-data.ts'
import type { App } from './app.ts'
import { ask, shownContent } from './content.ts'
import { type Child, el, link } from './dom.ts'
import { plainText } from './fields.ts'
import { isList, isRecord, type JsonValue, textOf } from './json-value.ts'
import { askingFor, isOfDeleted, keyFields, parameterOf, recordUrl } from './list-query.ts'
import { pathOf } from './path.ts'

export type Row = ReadonlyMap<string, JsonValue>

const MAX_RELATIONS = 10
/** Maximum number of records that a cell names. */
const MAX_NAMED = 3
const MAX_LENGTH = 200

/** The names of the page's own answer. */
export function pageNames(app: App): RelatedNames {
	return app.once('names', () => {
		const isFound = (app.data.answer?.status ?? 404) < 400
		return new RelatedNames(app, app.url, isFound ? shownContent(app).data : undefined, app.data.relations)
	})
}

export class RelatedNames {
	readonly #relations: readonly RelationData[]
	/** The record, if the answer isn't a list. */
	readonly #record: Row | undefined
	/** By relation and key: a related record, or null if the caller doesn't see it. */
	readonly #known = new Map<string, Row | null>()
	readonly #waiting: (() => void)[] = []

	/**
	 * @param url the URL that `data`, a record or a list, comes from
	 * @param relations the relations of those records
	 */
	constructor(app: App, url: string, data: JsonValue | undefined, relations: readonly RelationData[]) {
		this.#relations = relations
		this.#record = isRecord(data) ? data : undefined
		const rows = rowsIn(data)
		this.#learn(rows, relations)
		const missing = relations
			.filter((one) => one.label !== undefined && rows.some((row) => this.#isUnknown(one, row)))
			.slice(0, MAX_RELATIONS)
		if (missing.length > 0) void this.#load(app, url, missing)
	}

	/** The cell of a field that leads to another record, or of records within the row; `undefined` for other fields. */
	cell(column: string, row: JsonValue, ownUrl?: string): HTMLElement | undefined {
		const value = isRecord(row) ? row.get(column) : undefined
		if (!isRecord(row) || value === undefined || value === null) return undefined
		const relation = this.relationBy(column)
		if (relation !== undefined) return this.#keyCell(relation, row, plainText(value), ownUrl)
		const within = this.#relations.find(({ name }) => name === column)
		return within === undefined ? undefined : includedCell(within, value)
	}

	/** Links to the record's to-one relations for which it has no field. */
	others(url: string): readonly (readonly [name: string, link: HTMLElement])[] {
		const record = this.#record
		if (record === undefined || parameterOf(url, 'fields') !== '' || isOfDeleted(url)) return []
		const others = this.#relations.filter(
			({ name, by, isMany }) => !isMany && by.length === 0 && !record.has(name),
		)
		return others.map((relation) => {
			const cell = el('span', { class: 'related' }, link(`${pathOf(url)}/${relation.name}`, relation.name))
			const show = () => {
				const found = this.#recordOf(relation, record)
				const name = nameOf(relation, found)
				if (found === null) cell.replaceChildren(el('span', { class: 'null' }, 'null'))
				else if (name !== undefined)
					cell.replaceChildren(
						maybeLink(recordUrl(relation.path, found ?? record) ?? `${pathOf(url)}/${relation.name}`, name),
					)
			}
			show()
			this.#waiting.push(show)
			return [relation.name, cell]
		})
	}

	/** The relation with this field as its foreign key, or as the last field of it. */
	relationBy(field: string): RelationData | undefined {
		return this.#relations.find(({ by }) => by.at(-1)?.[0] === field)
	}

	/** Calls back with the name of a row's related record, now or when it is known. */
	whenNamed(relation: RelationData, row: Row, show: (name: string) => void): void {
		const tell = () => {
			const name = nameOf(relation, this.#recordOf(relation, row))
			if (name !== undefined) show(name)
		}
		if (this.#isUnknown(relation, row)) this.#waiting.push(tell)
		else tell()
	}

	#keyCell(relation: RelationData, row: Row, value: string, ownUrl: string | undefined): HTMLElement {
		const cell = el('span', { class: 'related' })
		const show = () => {
			const record = this.#recordOf(relation, row)
			const name = nameOf(relation, record)
			const url = record === null ? undefined : recordUrl(relation.path, record ?? otherFields(relation, row))
			const own: Child = ownUrl !== undefined && link(ownUrl, value)
			if (name === undefined) cell.replaceChildren(own || maybeLink(ownUrl ?? url, value))
			else
				cell.replaceChildren(own || '', maybeLink(url, name), own ? '' : el('span', { class: 'id' }, value))
		}
		show()
		if (this.#isUnknown(relation, row)) this.#waiting.push(show)
		return cell
	}

	#recordOf(relation: RelationData, row: Row): Row | null | undefined {
		return this.#known.get(this.#identityOf(relation, row) ?? '')
	}

	#isUnknown(relation: RelationData, row: Row): boolean {
		const identity = this.#identityOf(relation, row)
		return identity !== undefined && !this.#known.has(identity)
	}

	/** The relation and the key of a row's related record; `undefined` if there is none. */
	#identityOf({ name, by, isMany }: RelationData, row: Row): string | undefined {
		// Without a foreign key, the relation alone identifies a single record's related one.
		if (by.length === 0) return isMany || this.#record === undefined ? undefined : name
		const values = by.map(([own]) => row.get(own))
		if (values.some((value) => value === null || value === undefined)) return undefined
		return `${name} ${values.map((value) => textOf(value ?? null)).join()}`
	}

	#learn(rows: readonly Row[], relations: readonly RelationData[]): void {
		for (const row of rows) {
			for (const relation of relations) {
				const identity = this.#identityOf(relation, row)
				const record = row.get(relation.name)
				if (identity !== undefined && (record === null || isRecord(record))) this.#known.set(identity, record)
			}
		}
	}

	async #load(app: App, url: string, relations: readonly RelationData[]): Promise<void> {
		const names = relations.flatMap((relation) => [
			...relation.by.map(([own]) => own),
			...nameFields(relation).map((field) => `${relation.name}.${field}`),
		])
		const { data, error } = await ask(app, askingFor(url, [...new Set(names)]))
		if (error === undefined) this.#learn(rowsIn(data), relations)
		for (const show of this.#waiting.splice(0)) show()
	}
}

function rowsIn(data: JsonValue | undefined): Row[] {
	return (isList(data) ? data : [data]).filter((one) => isRecord(one))
}

/** The fields that the name and the URL of a related record are made of. */
export function nameFields({ path, label, by }: Pick<RelationData, 'path' | 'label' | 'by'>): string[] {
	return [
		...new Set([
			...keyFields(path),
			...by.map(([, other]) => other),
			...(label === undefined ? [] : [label]),
		]),
	]
}

/** The key of a row's related record, by that record's fields. */
function otherFields({ by }: RelationData, row: Row): Row {
	return new Map(by.map(([own, other]) => [other, row.get(own) ?? null]))
}

export function nameOf(
	{ label }: Pick<RelationData, 'label'>,
	record: Row | null | undefined,
): string | undefined {
	const name = label === undefined ? undefined : record?.get(label)
	return typeof name === 'string' && name.trim() !== '' ? name.slice(0, MAX_LENGTH) : undefined
}

/** The values of a key as one text. */
export function keyText(record: Row, fields: readonly string[]): string {
	return fields.map((field) => plainText(record.get(field) ?? '')).join()
}

function maybeLink(url: string | undefined, text: string): HTMLElement {
	return url === undefined
		? el('span', { class: 'clip' }, text)
		: link(url, text, { class: 'clip', title: text })
}

/** Related records within a row, as they were included. */
function includedCell(relation: RelationData, value: JsonValue): HTMLElement | undefined {
	const records = rowsIn(isRecord(value) && isList(value.get('data')) ? value.get('data') : value)
	const meta = isRecord(value) ? value.get('meta') : undefined
	const hasMore = records.length > MAX_NAMED || (isRecord(meta) && (meta.get('next') ?? null) !== null)
	const names = records.slice(0, MAX_NAMED).map((record) => {
		const key = keyText(record, keyFields(relation.path))
		const first = [...record.values()][0] ?? ''
		return maybeLink(recordUrl(relation.path, record), nameOf(relation, record) ?? (key || plainText(first)))
	})
	return el('span', { class: 'related' }, ...names, hasMore && '…')
}
