/** `blog/v2/articles`: what the first version answers, where nothing else is said here. */
import ArticlesV1 from '../v1/articles.ts'

export default class ArticlesV2 extends ArticlesV1 {
	override get_article(id: string) {
		return { id, title: this.title(id) }
	}

	get_slug(id: string) {
		return this.title(id).toLowerCase().replaceAll(' ', '-')
	}
}
