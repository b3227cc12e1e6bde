/** Handlers whose records have a key of two fields, one of them within a scope, and a handler without a key. */
import { CrudHandler, createServer, MemoryModel, type Server } from '../../lib/index.ts'
import { Log } from '../helpers/listening.ts'

class Tags extends CrudHandler {
	override customRoutes = { 'GET %s/note': 'note' }

	note(id: string) {
		return { id }
	}
}

class OfSeven extends CrudHandler {
	override scope() {
		return { article: 7 }
	}
}

function tagModel(): MemoryModel {
	return new MemoryModel('article_tag', {
		fields: {
			article: 'integer',
			tag: { type: 'text', maxLength: 20 },
			note: { type: 'text', nullable: true },
			version: { type: 'integer', default: 1 },
		},
		key: ['article', 'tag'],
		rows: [
			{ article: 7, tag: 'herb', note: 'seven herb' },
			{ article: 7, tag: 'tree', note: 'seven tree' },
			{ article: 8, tag: 'a,b/c', note: 'eight odd' },
			{ article: 8, tag: 'herb', note: 'eight herb' },
		],
	})
}

export function keyedServer(): Server {
	const allow = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const
	const visible = ['article', 'tag', 'note']
	const options = { visible, updatable: ['note'], allow, version: 'version' }
	const lines = new MemoryModel('line', { fields: { text: 'text' }, key: [], rows: [{ text: 'first' }] })
	return createServer(
		{
			tags: new Tags(tagModel(), { ...options, creatable: visible }),
			mine: new OfSeven(tagModel(), { ...options, creatable: ['tag', 'note'] }),
			narrow: new OfSeven(tagModel(), { visible: ['tag', 'note'], updatable: ['note'], allow }),
			lines: new CrudHandler(lines, { visible: 'all' }),
		},
		{ explorer: true, logger: new Log(), graceTimeoutSeconds: 0.1 },
	)
}
