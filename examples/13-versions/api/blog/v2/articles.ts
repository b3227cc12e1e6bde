/** Mounted at `blog/v2/articles`: inherits what it doesn't override from the first version. */
import ArticlesV1 from '../v1/articles.ts'

export default class ArticlesV2 extends ArticlesV1 {
	override get_article(id: string) {
		return { id, title: this.title(id) }
	}

	get_slug(id: string) {
		return this.title(id).toLowerCase().replaceAll(' ', '-')
	}
}
