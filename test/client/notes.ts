/** A handler of which a page needs only the type: see `api-page.test.ts`. */
import { RestHandler } from '../../lib/index.ts'

export class Notes extends RestHandler {
	override customRoutes = { 'GET part/%s/of-%d': 'part' } as const
	override specs = { post_note: { text: ['required', 'string'] } } as const

	get_note(id: string) {
		if (id === 'none') return this.error('No such note', 404)
		return { id, written: new Date(0) }
	}
	post_note() {
		return this.getParams()
	}
	delete_note(_id: string) {}
	query_notes() {
		return { method: this.request.method, body: this.body }
	}
	get_bytes() {
		return Buffer.from('bytes')
	}
	part(name: string, of: number) {
		return { name, of }
	}
}
