import * as assert from 'uvu/assert'
import * as v from 'valibot'
import { z } from 'zod'
import {
	type Declared,
	type Declaring,
	declaredBy,
	type Guards,
} from '../../../lib/handler/mount/declarations.ts'
import type { Acl, Authenticator } from '../../../lib/index.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

const authenticator: Authenticator = { authenticate: () => null }
const acl: Acl = { allows: () => true }
const NOBODY: Guards = { authenticator: undefined, acl: undefined }
const NAMES = new Set(['get_article', 'post_article'])

function read(
	declaring: Partial<Record<keyof Declaring, unknown>>,
	guards: Guards = { authenticator, acl },
): Declared {
	const all = { access: {}, rateLimits: {}, specs: {}, streaming: [], docs: {}, ...declaring } as Declaring
	return declaredBy('Blog', all, NAMES, guards, 'blog/api')
}

describe('mount/declarations', (test) => {
	test('without declarations everybody may call, no specs apply, nothing streams', () => {
		const declared = read({}, NOBODY)
		assert.equal(declared.access('get_article'), { user: false, resources: [] })
		assert.is(declared.spec('get_article'), undefined)
		assert.is(declared.streaming('get_article'), undefined)
	})

	test('access is declared by name, and by * for the rest', () => {
		const { access } = read({ access: { post_article: ['article:write', 'x'], '*': 'user' } })
		assert.equal(access('post_article'), { user: true, resources: ['article:write', 'x'] })
		assert.equal(access('get_article'), { user: true, resources: [] })
	})

	test('anyone is an exception to *', () => {
		const { access } = read({ access: { get_article: 'anyone', '*': ['a'] } })
		assert.equal(access('get_article'), { user: false, resources: [] })
		assert.equal(access('post_article'), { user: true, resources: ['a'] })
	})

	test('resources are copied: later changes of the array have no effect', () => {
		const resources = ['a']
		const { access } = read({ access: { get_article: resources } })
		resources.length = 0
		assert.equal(access('get_article').resources, ['a'])
	})

	test('streaming is a list of names, or body limits by name', () => {
		const defaults = { maxBody: Number.POSITIVE_INFINITY, handlerTimeout: 600_000 }
		assert.equal(read({ streaming: ['post_article'] }).streaming('post_article'), defaults)
		const { streaming } = read({
			streaming: { post_article: { maxBody: 5 }, get_article: { handlerTimeoutSeconds: 0.009 } },
		})
		assert.equal(streaming('post_article'), { ...defaults, maxBody: 5 })
		assert.equal(streaming('get_article'), { ...defaults, handlerTimeout: 9 })
	})

	test('a spec is compiled', () => {
		const spec = { title: ['required', 'string'] } as const
		assert.is(read({ specs: { post_article: spec } }).spec('post_article')?.source, spec)
	})

	test('docs describe a method without changing its access', () => {
		const answer = z.object({ id: z.string() })
		const told = { summary: 'One', description: '*More*', tags: ['a'], hidden: false, answer, status: 201 }
		const access = { '*': 'user', post_article: ['a'] }
		const declared = read({ access, docs: { get_article: told, post_article: { answer: 'image/png' } } })
		assert.equal(declared.docs('get_article'), told)
		assert.equal(declared.docs('post_article'), { answer: 'image/png' })
		assert.equal(declared.access('get_article'), { user: true, resources: [] })
		assert.equal(declared.access('post_article'), { user: true, resources: ['a'] })
		assert.is(declared.docs('put_article'), undefined)
	})

	const wrongDocs: [string, unknown, string][] = [
		[
			'as text',
			'One article',
			' must be an object: { summary: \'One article\', answer: … }, got "One article"',
		],
		['with a misspelt field', { sumary: 'x' }, ' has no option sumary: did you mean summary?'],
		['with an empty summary', { summary: '' }, '.summary must be a non-empty string, got ""'],
		['with a number', { description: 5 }, '.description must be a non-empty string, got 5'],
		[
			'with no tag',
			{ tags: [] },
			".tags must be an array of at least one text: ['articles'], got an empty array",
		],
		[
			'with a tag as text',
			{ tags: 'a' },
			`.tags must be an array of at least one text: ['articles'], got "a"`,
		],
		// biome-ignore lint/suspicious/noSparseArray: somebody has typed one comma too many
		['with a gap', { tags: ['a', , 'b'] }, '.tags[1] must be a non-empty string, got undefined'],
		['with a text for yes', { hidden: 'yes' }, '.hidden must be true or false, got "yes"'],
		['of a failure', { status: 404 }, '.status must be a whole number from 200 to 399, got 404'],
		['of no status', { status: '201' }, '.status must be a whole number from 200 to 399, got "201"'],
		[
			'with a spec as answer',
			{ answer: { title: ['string'] } },
			".answer must be a Standard Schema, or a media type: 'image/png', got an object",
		],
		[
			'with no type',
			{ answer: 'png' },
			`.answer must be a Standard Schema, or a media type: 'image/png', got "png"`,
		],
		[
			'with a schema that has no JSON Schema',
			{ answer: v.string() },
			'.answer: valibot has no JSON Schema for it (zod has, from 4.2 on, and arktype)',
		],
	]
	for (const [what, told, message] of wrongDocs) {
		test(`docs ${what} are refused: ${message}`, () => {
			assert.is(
				messageOf(() => read({ docs: { get_article: told } })),
				`Blog.docs["get_article"]${message}`,
			)
		})
	}

	const ACCESS = `must be 'anyone', 'user', or an array of at least one resource name: ['article:write']`
	const NEEDS = 'needs an authenticator, on the handler or on the server: nobody could authenticate'
	const refusals: [string, Partial<Record<keyof Declaring, unknown>>, Guards | undefined, string][] = [
		[
			'a misspelt method',
			{ access: { post_artcle: 'anyone' } },
			undefined,
			'Blog.access["post_artcle"] names no route: did you mean post_article?',
		],
		[
			'a method that is no route',
			{ access: { helper: 'user' } },
			undefined,
			'Blog.access["helper"] names no route; there are get_article, post_article, *',
		],
		['a misspelt word', { access: { '*': 'users' } }, undefined, `Blog.access["*"] ${ACCESS}`],
		['no resource', { access: { '*': [] } }, undefined, `Blog.access["*"] ${ACCESS}`],
		['an empty resource', { access: { '*': ['a', ''] } }, undefined, `Blog.access["*"] ${ACCESS}`],
		['a resource that is no text', { access: { '*': [5] } }, undefined, `Blog.access["*"] ${ACCESS}`],
		['undefined', { access: { '*': undefined } }, undefined, `Blog.access["*"] ${ACCESS}`],
		['true', { access: { '*': true } }, undefined, `Blog.access["*"] ${ACCESS}`],
		['a user without authenticator', { access: { '*': 'user' } }, NOBODY, `Blog.access["*"] ${NEEDS}`],
		[
			'resources without authenticator',
			{ access: { '*': ['a'] } },
			{ authenticator: undefined, acl },
			`Blog.access["*"] ${NEEDS}`,
		],
		[
			'resources without acl',
			{ access: { get_article: ['a'] } },
			{ authenticator, acl: undefined },
			'Blog.access["get_article"] names resources, which need an acl, on the handler or on the server',
		],
		[
			'access as text',
			{ access: 'user' },
			undefined,
			'Blog.access must be a plain object: { method: … }, by method name',
		],
		[
			'access as a Map',
			{ access: new Map([['get_article', 'user']]) },
			undefined,
			'Blog.access must be a plain object: { method: … }, by method name',
		],
		[
			'access as null',
			{ access: null },
			undefined,
			'Blog.access must be a plain object: { method: … }, by method name',
		],
		[
			'a spec of no route',
			{ specs: { post_articles: {} } },
			undefined,
			'Blog.specs["post_articles"] names no route: did you mean post_article?',
		],
		[
			'a spec for *',
			{ specs: { '*': {} } },
			undefined,
			'Blog.specs["*"] names no route; there are get_article, post_article',
		],
		[
			'docs of no route',
			{ docs: { get_artcle: {} } },
			undefined,
			'Blog.docs["get_artcle"] names no route: did you mean get_article?',
		],
		[
			'specs as undefined',
			{ specs: undefined },
			undefined,
			'Blog.specs must be a plain object: { method: … }, by method name',
		],
		[
			'a stream of no route',
			{ streaming: ['post_upload'] },
			undefined,
			'Blog.streaming["post_upload"] names no route; there are get_article, post_article',
		],
		[
			'limits of no route',
			{ streaming: { post_artikle: {} } },
			undefined,
			'Blog.streaming["post_artikle"] names no route: did you mean post_article?',
		],
		[
			'limits as true',
			{ streaming: { post_article: true } },
			undefined,
			'Blog.streaming["post_article"] must be an object: { maxBody, handlerTimeoutSeconds }, got true',
		],
		[
			'a limit of 0',
			{ streaming: { post_article: { maxBody: 0 } } },
			undefined,
			'Blog.streaming["post_article"].maxBody must be a number above 0, or Infinity, got 0',
		],
		[
			'a limit that is no number',
			{ streaming: { post_article: { handlerTimeoutSeconds: Number.NaN } } },
			undefined,
			'Blog.streaming["post_article"].handlerTimeoutSeconds must be a number from 0.001 up, or Infinity, got NaN',
		],
		[
			'a limit in milliseconds',
			{ streaming: { post_article: { handlerTimeout: 5_000 } } },
			undefined,
			'Blog.streaming["post_article"] has no option handlerTimeout: it is handlerTimeoutSeconds, in seconds (30 for 30_000 ms)',
		],
		[
			'a misspelt limit',
			{ streaming: { post_article: { handlerTimout: 5 } } },
			undefined,
			'Blog.streaming["post_article"] has no option handlerTimout: did you mean handlerTimeoutSeconds?',
		],
	]
	for (const [what, declaring, guards, message] of refusals) {
		test(`${what} is refused: ${message}`, () => {
			assert.is(
				messageOf(() => read(declaring, guards)),
				message,
			)
		})
	}

	test('anyone needs no authenticator', () => {
		assert.equal(read({ access: { '*': 'anyone' } }, NOBODY).access('get_article').user, false)
	})

	test('a mistake in a spec is reported with its position', () => {
		const message = messageOf(() => read({ specs: { post_article: { title: ['requierd'] } } }))
		assert.ok(message.startsWith('Blog.specs["post_article"]: '), message)
		assert.ok(message.includes('requierd'), message)
	})

	test('__proto__ as a key names no route', () => {
		const access = JSON.parse('{"__proto__":"user"}') as unknown
		assert.ok(messageOf(() => read({ access })).startsWith('Blog.access["__proto__"] names no route'))
	})
})
