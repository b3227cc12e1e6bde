import * as assert from 'uvu/assert'
import { customPath, type EndpointPath, ownPath, resourcePaths } from '../../lib/routing/endpoints.ts'
import { describe } from '../helpers/describe.ts'

function named(...names: string[]) {
	return names.map((text) => ({
		name: text.replace(/^\.\.\.|\?$/g, ''),
		isOptional: text.endsWith('?') || text.startsWith('...'),
		isRest: text.startsWith('...'),
	}))
}

/** `/article/{id} id:text` */
function said({ path, params }: EndpointPath): string {
	return [path, ...params.map(({ name, kind }) => `${name}:${kind}`)].join(' ')
}

describe('endpoints by name', (test) => {
	const table: [string | undefined, string[], string[]][] = [
		['article', [], ['/article']],
		['article', ['id'], ['/article/{id} id:text']],
		['greeting', ['name?'], ['/greeting', '/greeting/{name} name:text']],
		[
			'a',
			['x', 'y?', 'z?'],
			['/a/{x} x:text', '/a/{x}/{y} x:text y:text', '/a/{x}/{y}/{z} x:text y:text z:text'],
		],
		['echo', ['...words'], ['/echo', '/echo/{words} words:rest']],
		[undefined, [], ['']],
		[undefined, ['id'], ['/{id} id:text']],
		['a', ['x', 'x'], ['/a/{x}/{x2} x:text x2:text']],
	]
	for (const [resource, names, expected] of table) {
		test(`${resource ?? '_default'}(${names.join(', ')})`, () => {
			assert.equal(resourcePaths(resource, named(...names)).map(said), expected)
		})
	}
})

describe('endpoints of custom routes', (test) => {
	const table: [string, string[], string][] = [
		['ping', [], '/ping'],
		['custom/%s/page/%d', ['name', 'number'], '/custom/{name}/page/{number} name:text number:number'],
		['page-%d', ['number'], '/page-{number} number:number'],
		['%s.%s', ['name'], '/{name}.{param2} name:text param2:text'],
		['a/%s', ['...all'], '/a/{param1} param1:text'],
		['100%%/%s', ['x'], '/100%25/{x} x:text'],
		['ä b/%s', ['x'], '/%C3%A4%20b/{x} x:text'],
		['%s/%s', ['id', 'id'], '/{id}/{id2} id:text id2:text'],
	]
	for (const [pattern, names, expected] of table) {
		test(pattern, () => assert.is(said(customPath(pattern, named(...names))), expected))
	}
})

describe('endpoints of own actions', (test) => {
	test('have no segment, or an id, after the handler path', () => {
		assert.equal([ownPath(0), ownPath(1)].map(said), ['', '/{id} id:text'])
	})

	test('list the ways to it', () => {
		const by = [ownPath(0), ...resourcePaths('a', []), customPath('a', [])].map((way) => way.by)
		assert.equal(by, ['own', 'name', 'route'])
	})
})
