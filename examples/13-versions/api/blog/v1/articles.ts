/** Mounted at `blog/v1/articles`, the path of this file. */
import { RestError, RestHandler } from '../../../../../lib/index.ts' // 'verbena'

const titles = new Map([['5', 'Lemon verbena through the winter']])

export default class ArticlesV1 extends RestHandler {
	get_article(id: string): unknown {
		return this.title(id)
	}

	get_count() {
		return titles.size
	}

	protected title(id: string): string {
		const title = titles.get(id)
		if (title === undefined) throw new RestError('not_found', 'No such article')
		return title
	}
}
