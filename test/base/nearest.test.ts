import * as assert from 'uvu/assert'
import { nearest } from '../../lib/base/nearest.ts'
import { describe } from '../helpers/describe.ts'

describe('mount/nearest', (test) => {
	const table: [string, string[], string][] = [
		['get_artcle', ['post_article', 'get_article', 'get_page'], ': did you mean get_article?'],
		['get_articles', ['get_article'], ': did you mean get_article?'],
		['pge', ['page'], ': did you mean page?'],
		['Page', ['page'], ': did you mean page?'],
		['publish', ['get_article', 'page'], '; there are get_article, page'],
		['x', ['get_article'], '; there are get_article'],
		['anything', [], ''],
		['', ['ab'], ': did you mean ab?'],
	]
	for (const [name, names, hint] of table) {
		test(`"${name}" among ${names.join(' ')}: "${hint}"`, () => assert.is(nearest(name, names), hint))
	}

	test('of many names the first twenty are told', () => {
		const names = Array.from({ length: 30 }, (_, at) => `get_article_number_${at}`)
		assert.is(nearest('zzz', names), `; there are ${names.slice(0, 20).join(', ')}`)
	})
})
