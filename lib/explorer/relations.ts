/**
 * The relations of a page's records: foreign keys that are shown as links with names and chosen by name in forms, and the
 * lists below a record. Those that the caller may not use are left out. Called by `page-reply.ts`.
 */

import { ROUTE_METHODS } from '../base/http.ts'
import { OPERATIONS } from '../crud/options.ts'
import type { Relation } from '../crud/plan.ts'
import {
	fieldsBack,
	relatedUse,
	type ShownRecords,
	type ShownRelation,
	shownRecords,
} from '../crud/relations/shown.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { pathOfMount } from '../routing/endpoints.ts'
import type { Mount, MountTree } from '../routing/routing.ts'
import type { Caller } from './caller.ts'
import { operationsAt } from './operations.ts'
import type { ChoiceData, PageData, RelatedListData, RelationData } from './page-data.ts'
import { actionAt, type Place } from './place.ts'

/** A page's request and its caller. */
interface Page {
	readonly exchange: Exchange
	readonly mounts: MountTree
	readonly place: Place
	readonly mount: Mount
	readonly caller: Caller
}

/**
 * The relations of the records at a path, and the URL template of the records, if it is another handler's.
 *
 * @param isFound whether the reply is a success, and not about deleted records
 */
export async function relationsAt(
	exchange: Exchange,
	mounts: MountTree,
	place: Place,
	caller: Caller,
	isFound: boolean,
): Promise<Pick<PageData, 'relations'> & { readonly recordPath: string | undefined }> {
	const { mount, segments, depth } = place
	const action = ownAction(exchange, place)
	// The groups of totals aren't records.
	if (mount === undefined || action === undefined || action.name === 'totals')
		return { relations: [], recordPath: undefined }
	const page: Page = { exchange, mounts, place, mount, caller }
	const use = relatedUse(mount.handler, action.name)
	const records = shownRecords(use?.handler ?? mount.handler)
	const isRecord = isFound && use === undefined && segments.length === depth + 1
	return {
		relations: records === undefined ? [] : await relationsOf(page, records, isRecord),
		recordPath: use?.operation === 'list' ? await recordPathOf(page, use.handler) : undefined,
	}
}

/** Maximum number of related records in a page below a record. */
const MAX_LISTED = 10

/** The action at the path, if it is built into a CrudHandler. */
function ownAction(exchange: Exchange, place: Place): Action | undefined {
	for (const method of ROUTE_METHODS) {
		const action = actionAt(exchange, place, method)
		const isOwn =
			action !== undefined && (OPERATIONS.some((name) => name === action.name) || action.name.includes(' '))
		if (isOwn) return action
	}
	return undefined
}

async function relationsOf(
	page: Page,
	{ relations }: ShownRecords,
	isRecord: boolean,
): Promise<RelationData[]> {
	const all: RelationData[] = []
	for (const shown of relations) {
		const { relation } = shown
		if (!(await page.caller.mayUse(relation, page.mount))) continue
		const list = isRecord && relation.link.isMany ? await listBelow(page, relation) : undefined
		all.push({ ...(await relationData(page, shown)), list })
	}
	return all
}

async function relationData(page: Page, { relation, by }: ShownRelation): Promise<RelationData> {
	const records = shownRecords(relation.handler)
	return {
		name: relation.name,
		isMany: relation.link.isMany,
		by,
		path: await recordPathOf(page, relation.handler),
		label: records?.label,
		choice: by.length === 0 ? undefined : await choiceOf(page, relation, records?.finder),
		list: undefined,
	}
}

/** The mount of another handler; of several, such as versions, the one with the longest common path. */
function mountOf({ mounts, mount: own }: Page, handler: object): Mount | undefined {
	const common = ({ path }: Mount) => {
		const end = path.findIndex((segment, at) => segment !== own.path[at])
		return end === -1 ? path.length : end
	}
	const [best] = mounts.all.filter((one) => one.handler === handler).sort((a, b) => common(b) - common(a))
	return best
}

/** Whether the caller may use a built-in operation of a mount. */
async function mayAt({ caller }: Page, mount: Mount, name: string): Promise<boolean> {
	const endpoint = mount.endpoints.find(({ by, action }) => by === 'own' && action.name === name)
	return endpoint !== undefined && (await caller.may(mount, endpoint.action))
}

/** `/blog/authors/{id}`; `undefined` if the caller can't open them. */
async function recordPathOf(page: Page, handler: object): Promise<string | undefined> {
	const mount = mountOf(page, handler)
	const { key } = shownRecords(handler) ?? {}
	if (mount === undefined || key === undefined || !(await mayAt(page, mount, 'read'))) return undefined
	return `${page.place.prefix}${pathOfMount(mount)}/${key.map((name) => `{${name}}`).join()}`
}

async function choiceOf(
	page: Page,
	{ handler }: Relation,
	parameter: string | undefined,
): Promise<ChoiceData | undefined> {
	const mount = mountOf(page, handler)
	if (mount === undefined || parameter === undefined || !(await mayAt(page, mount, 'list'))) return undefined
	return { url: page.place.prefix + pathOfMount(mount), parameter }
}

/** A relation's list below the page's record, with what the caller may do there; `undefined` if they may not read it. */
async function listBelow(page: Page, relation: Relation): Promise<RelatedListData | undefined> {
	const { exchange, place, caller, mount } = page
	const { name, handler } = relation
	const limit = Math.min(relation.limit, MAX_LISTED)
	const within = { ...place, segments: [...place.segments, name], sent: [...place.sent, name] }
	const operations = await operationsAt(exchange, within, caller, 200)
	if (!operations.some(({ method, isAllowed }) => method === 'GET' && isAllowed)) return undefined
	const records = shownRecords(handler)
	const back = fieldsBack(relation)
	const relations: RelationData[] = []
	for (const shown of records?.relations ?? []) {
		const isBack = shown.by.length > 0 && shown.by.every(([own]) => back.includes(own))
		if (shown.by.length > 0 && !isBack && (await caller.mayUse(shown.relation, mount)))
			relations.push(await relationData(page, shown))
	}
	const url = `${(place.url.split('?', 1)[0] ?? '').replace(/\/$/, '')}/${name}`
	const create = operations.find(({ method, isAllowed }) => method === 'POST' && isAllowed)
	const tie = actionAt(exchange, { ...within, segments: [...within.segments, '0'] }, 'PUT')
	const canTie = records?.key !== undefined && tie !== undefined && (await caller.may(mount, tie))
	return {
		...{ url, limit, relations, back },
		key: records?.key ?? [],
		create: create && { ...create, url },
		tie: canTie ? { choice: await choiceOf(page, relation, records?.finder) } : undefined,
	}
}
