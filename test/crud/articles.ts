/** Articles in memory, for tests of `CrudHandler`. Hidden values contain MARKER, which no answer may contain. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel, type ServerOptions } from '../../lib/index.ts'
import { type Asking, asking, type More } from '../helpers/asking.ts'

export const EVERYTHING = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const

/** Five articles: ids 1 to 5, by ann and bob in turn, the third without a body. */
export function articleModel(): MemoryModel {
	return new MemoryModel('article', {
		key: 'id',
		fields: {
			id: 'integer',
			title: { type: 'text', maxLength: 20 },
			body: { type: 'text', nullable: true },
			state: { type: 'text', choices: ['draft', 'public'], default: 'draft' },
			rating: { type: 'float', nullable: true },
			published: { type: 'timestamp', nullable: true },
			owner: { type: 'text', default: 'nobody' },
			secret: { type: 'text', nullable: true },
			revision: { type: 'integer', default: 1 },
		},
		unique: [['title'], ['secret']],
		rows: [1, 2, 3, 4, 5].map((n) => ({
			title: `Title ${n}`,
			body: n === 3 ? null : `Body of ${n}`,
			state: n < 3 ? 'draft' : 'public',
			rating: n / 2,
			published: n === 5 ? null : `2026-11-0${n}T10:00:00Z`,
			owner: n % 2 === 1 ? 'ann' : 'bob',
			secret: `MARKER${n}`,
		})),
	})
}

export const OPTIONS: CrudOptions = {
	visible: ['id', 'title', 'body', 'state', 'rating', 'published'],
	updatable: ['title', 'body', 'state', 'rating', 'published', 'secret'],
	searchable: ['title', 'body'],
	allow: EVERYTHING,
}

/** A handler at `article`, called without a socket. */
export function articles(
	handler: CrudHandler = new CrudHandler(articleModel(), OPTIONS),
	options: ServerOptions = {},
): Asking {
	return guarded(asking({ article: handler }, options))
}

/** Fails for every response that contains a hidden value. */
export function guarded(asked: Asking): Asking {
	const ask: Asking['ask'] = async (request, more) => {
		const reply = await asked.ask(request, more)
		assert.not.match(reply.text() + JSON.stringify(reply.headers), 'MARKER')
		return reply
	}
	const said = async (request: string, more?: More): Promise<string> => {
		const reply = await ask(request, more)
		return `${reply.status} ${reply.text()}`
	}
	return { ...asked, ask, said }
}

/** The `data` of a response. */
export async function dataOf(asked: Asking, request: string, more?: More): Promise<unknown> {
	const reply = await asked.ask(request, more)
	assert.is(reply.status < 300, true, `${request}: ${reply.text()}`)
	return (JSON.parse(reply.text()) as { data: unknown }).data
}

/** The ids of a list. */
export async function idsOf(asked: Asking, request: string, more?: More): Promise<number[]> {
	const records = (await dataOf(asked, request, more)) as { id: number }[]
	return records.map(({ id }) => id)
}

/** Status and message of a refusal. */
export async function refusalOf(asked: Asking, request: string, more?: More): Promise<string> {
	const reply = await asked.ask(request, more)
	const { error } = JSON.parse(reply.text()) as { error: string }
	return `${reply.status} ${error}`
}
