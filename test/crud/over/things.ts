/** Handlers over the table of `stores.ts`: one for everybody, one scoped by owner, called without a socket. */
import {
	CrudHandler,
	type CrudOptions,
	createServer,
	type InjectedReply,
	type InjectedRequest,
	type Model,
} from '../../../lib/index.ts'
import { keyNames } from '../../../lib/models/key.ts'
import { Log } from '../../helpers/listening.ts'

/** `secret`, `pin`, `owner` and `deleted` are hidden. */
export const VISIBLE = [
	...['id', 'title', 'note', 'rank', 'ratio', 'price', 'done', 'day', 'at', 'extra', 'status', 'code'],
	...['stock', 'clock', 'token', 'data', 'parent', 'version'],
]
export const UPDATABLE = [
	...['title', 'note', 'rank', 'ratio', 'price', 'done', 'day', 'at', 'extra', 'status', 'code', 'parent'],
	...['stock', 'clock', 'token', 'data', 'secret'],
]

export const OPTIONS: CrudOptions = {
	visible: VISIBLE,
	updatable: UPDATABLE,
	searchable: ['title', 'note'],
	allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
	limit: 3,
	maxLimit: 5,
	version: 'version',
}

/** Limits each request to the records of the owner named in its header. */
export class OwnThings extends CrudHandler {
	override scope() {
		return { owner: this.request.header('x-owner') }
	}
}

export type Ask = (request: InjectedRequest) => Promise<InjectedReply>

/** Sends requests, and collects what was logged. */
export interface Asked {
	readonly ask: Ask
	readonly log: Log
}

/** Serves the model at `/things`, and at `/mine` within the scope of `x-owner`. */
export function serve(model: Model, options: CrudOptions = OPTIONS): Asked {
	const log = new Log()
	const server = createServer(handlersOf(model, options), { logger: log, logRequests: false })
	return { log, ask: (request) => server.inject(request) }
}

export function handlersOf(model: Model, options: CrudOptions = OPTIONS) {
	return { things: new CrudHandler(model, options), mine: new OwnThings(model, options) }
}

/** All columns of all records, hidden ones too, in the order of the key. */
export async function allRows(model: Model): Promise<Record<string, unknown>[]> {
	const names = model.fields.map(({ name }) => name)
	const { json } = await model.list({
		selection: { fields: names, names, version: undefined },
		order: keyNames(model).map((field) => ({ field, descending: false })),
		...{ where: undefined, limit: 10_000, offset: 0, after: undefined, total: false },
	})
	// A list is an array of objects with the selection's names.
	return JSON.parse(json) as Record<string, unknown>[]
}
