import * as assert from 'uvu/assert'
import type { Authenticator } from '../../lib/index.ts'
import { openApiInfo } from '../../lib/openapi/options.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const authenticator: Authenticator = { authenticate: () => null }

describe('the option openapi', (test) => {
	test('is off by default', () => {
		assert.is(openApiInfo('openapi', undefined), undefined)
		assert.is(openApiInfo('openapi', false), undefined)
	})

	test('has defaults', () => {
		const info = {
			...{ title: 'API', version: '0', description: undefined, license: undefined, servers: undefined },
			...{ access: 'anyone', requestId: undefined },
		}
		assert.equal(openApiInfo('openapi', true), info)
		assert.equal(openApiInfo('openapi', {}), info)
	})

	test('keeps servers as written, without a trailing slash', () => {
		const servers = [
			'https://api.example.com/v1',
			'/shop',
			'http://127.0.0.1:8080',
			'https://[::1]/a/',
			'/',
			'/a//',
		]
		assert.equal(openApiInfo('openapi', { servers })?.servers, [
			...['https://api.example.com/v1', '/shop', 'http://127.0.0.1:8080', 'https://[::1]/a', '/', '/a'],
		])
	})

	const OBJECT =
		'openapi must be true, false or an object: { title, version, description, license, servers, access }'
	const URLS = "['https://api.example.com/v1', '/shop']"
	const servers = [
		...['shop', '//shop', '/shop?a=1', '/shop#a', '/{shop}', '', 'https:///a', 'ftp://example.com'],
		...['https://ann:secret@example.com', 'https://a b', 'https://a:b:c', 'https://?a', 'https://'],
	]
	const wrongServer = (at: number, got: string) =>
		`openapi.servers[${at}] must be a URL of http or https, or a path that begins with a slash, without a query: ${URLS}, got ${got}`
	const wrongServers = servers.map((url): [unknown, string] => [
		{ servers: ['/', url] },
		wrongServer(1, JSON.stringify(url)),
	])
	const wrong: [unknown, string][] = [
		['yes', `${OBJECT}, got "yes"`],
		[null, `${OBJECT}, got null`],
		[[], `${OBJECT}, got an empty array`],
		...wrongServers,
		[{ servers: [] }, `openapi.servers must be an array of at least one URL: ${URLS}, got an empty array`],
		[{ servers: '/shop' }, `openapi.servers must be an array of at least one URL: ${URLS}, got "/shop"`],
		[{ tite: 'x' }, 'openapi has no option tite: did you mean title?'],
		[{ title: 1 }, 'openapi.title must be a string, got 1'],
		[{ version: 2 }, 'openapi.version must be a string, got 2'],
		[{ description: null }, 'openapi.description must be a string, got null'],
		[{ license: 'MIT' }, 'openapi.license must be an object: { name: \'MIT\', url }, got "MIT"'],
		[{ license: {} }, 'openapi.license needs a name'],
		[
			{ license: { name: 'MIT', link: 'x' } },
			'openapi.license has no option link; there are name, identifier, url',
		],
		[{ license: { name: 'MIT', url: 1 } }, 'openapi.license.url must be a string, got 1'],
		[
			{ license: { name: 'MIT', url: 'https://example.org', identifier: 'MIT' } },
			'openapi.license has an identifier and a url: keep one',
		],
		[
			{ access: 'nobody' },
			"openapi.access must be 'anyone', 'user', or an array of at least one resource name: ['article:write']",
		],
		[
			{ access: [] },
			"openapi.access must be 'anyone', 'user', or an array of at least one resource name: ['article:write']",
		],
		[
			{ access: 'user' },
			'openapi.access needs an authenticator, on the handler or on the server: nobody could authenticate',
		],
	]
	for (const [option, message] of wrong) {
		test(`refuses ${JSON.stringify(option)}`, () => {
			assert.is(
				messageOf(() => openApiInfo('openapi', option)),
				message,
			)
		})
	}

	test('refuses servers that are not strings, even those without a JSON form', () => {
		const loop: unknown[] = []
		loop.push(loop)
		const cases: [unknown, string][] = [
			[[7], wrongServer(0, '7')],
			[[7n], wrongServer(0, '7')],
			[['/', loop], wrongServer(1, 'an array')],
			// biome-ignore lint/suspicious/noSparseArray: somebody has typed one comma too many
			[['/', , '/a'], wrongServer(1, 'undefined')],
		]
		for (const [wrong, message] of cases)
			assert.is(
				messageOf(() => openApiInfo('openapi', { servers: wrong as string[] })),
				message,
			)
	})

	test('needs an acl for resources', () => {
		assert.is(
			messageOf(() => openApiInfo('openapi', { access: ['api:read'] }, { authenticator })),
			'openapi.access names resources, which need an acl, on the handler or on the server',
		)
		const acl = { allows: () => true }
		assert.equal(openApiInfo('openapi', { access: ['api:read'] }, { authenticator, acl })?.access, [
			'api:read',
		])
	})
})
