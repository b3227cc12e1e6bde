/** Warnings for methods that look like routes and aren't, and for handlers without routes. */
import * as assert from 'uvu/assert'
import { droppedStar, nearMissesOf } from '../../../lib/handler/mount/warnings.ts'
import {
	type AccessRules,
	CrudHandler,
	type CrudOptions,
	type CrudValues,
	createServer,
	MemoryModel,
	RestHandler,
	type ServerOptions,
} from '../../../lib/index.ts'
import { articleModel } from '../../crud/articles.ts'
import { asking, messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'

/** The near misses of a class with one method. */
function meant(name: string): string | undefined {
	class Blog extends RestHandler {}
	Object.defineProperty(Blog.prototype, name, { value: () => name })
	return nearMissesOf(new Blog(), RestHandler.prototype, [])[0]?.meant
}

/** The log lines when these are mounted. */
function warnings(...handlers: RestHandler[]): string[] {
	const logger = new Log()
	createServer(Object.fromEntries(handlers.map((handler, at) => [`h${at}`, handler])), { logger })
	return logger.messages
}

describe('mount/warnings: near misses', (test) => {
	const table: [string, string][] = [
		['getArticle', 'get_article'],
		['getBlogPost', 'get_blog_post'],
		['deleteHTMLPage', 'delete_html_page'],
		['queryArticles2', 'query_articles2'],
		['GET_article', 'get_article'],
		['Post_article', 'post_article'],
		['fetch_article', 'get_article'],
		['list_articles', 'get_articles'],
		['create_article', 'post_article'],
		['update_blog_post', 'patch_blog_post'],
		['remove_article', 'delete_article'],
		['get', 'get__default'],
		['post', 'post__default'],
	]
	for (const [name, other] of table) test(`${name}: ${other}`, () => assert.is(meant(name), other))

	const others = [
		'get_article',
		'get__default',
		'page',
		'readFile',
		'addDays',
		'findUser',
		'format_date',
		'constructor_args',
		'getter',
	]
	others.push(
		'list',
		'read',
		'create',
		'update',
		'remove',
		'search',
		'getParams',
		'getPutData',
		'deleted',
		'put1',
	)
	for (const name of others) test(`${name} is none`, () => assert.is(meant(name), undefined))

	test('a name may have any characters', () => {
		for (const name of ['update_a(b', 'update_[b', 'update_a*b', 'update_a$b'])
			assert.is(meant(name), name.replace('update', 'patch'))
	})

	test('each is logged once per handler, with the suggested name', () => {
		class Blog extends RestHandler {
			get_it() {}
			getArticle() {}
			fetch_article() {}
		}
		const lines = warnings(new Blog(), new Blog())
		assert.is(lines.length, 2)
		assert.match(
			lines[0] ?? '',
			/^warn: Blog\.getArticle\(\) answers no request.*: did you mean get_article\(\)\?/,
		)
		assert.match(lines[1] ?? '', /^warn: Blog\.fetch_article\(\) .*: did you mean get_article\(\)\?/)
	})

	test('a helper that the class calls, and the target of a custom route, cause no warning', () => {
		class Base extends RestHandler {
			get_it(): unknown {
				return [this.getUser(), Reflect.apply(this['postBox' as const], this, [])]
			}
			getUser() {
				return 1
			}
			postBox() {
				return 2
			}
			getUnused() {}
		}
		class Blog extends Base {
			override customRoutes = { 'GET a': 'getPage' }
			override getUser() {
				return 3
			}
			getPage() {}
		}
		// Each subclass uses only a part of its base class.
		assert.equal(warnings(new Blog()), [])
		assert.is(warnings(new Base()).length, 1)
	})

	test('suppressOutput and a CrudHandler cause no warning', () => {
		class Silent extends RestHandler {
			override readonly suppressOutput = true
			get_it() {}
			getArticle() {}
		}
		assert.equal(warnings(new Silent(), new CrudHandler(articleModel(), { visible: ['id'] })), [])
	})

	test('a handler without any route is refused', () => {
		class Blog extends RestHandler {
			page() {}
		}
		class Near extends RestHandler {
			getArticle() {}
		}
		const refusal = (handler: RestHandler): string => messageOf(() => createServer({ a: handler }))
		assert.is(
			refusal(new Blog()),
			'Blog has no routes, so every request to it would be 404: name a method get_something(), or declare customRoutes',
		)
		assert.is(
			refusal(new Near()),
			'Near has no routes, so every request to it would be 404: did you mean get_article() where it has getArticle()?',
		)
		assert.is(
			refusal(new CrudHandler(articleModel(), { visible: ['id'], allow: [] })),
			'CrudHandler has no routes, so every request to it would be 404: allow names no operation: name one, or name a method get_something(), or declare customRoutes',
		)
		class Custom extends RestHandler {
			override customRoutes = { 'GET a': 'page' }
			page() {}
		}
		class Sub extends Custom {}
		assert.not.throws(() => createServer({ a: new Custom(), b: new Sub() }))
	})
})

class Closed extends RestHandler {
	override access: AccessRules = { get_a: 'anyone', '*': 'user' }
	get_a() {
		return 'a'
	}
	get_b() {
		return 'b'
	}
}

class Dropping extends Closed {
	override access: AccessRules = { get_a: 'user' }
}

class Open extends Closed {
	override access: AccessRules = { get_a: 'user', '*': 'anyone' }
}

class Inheriting extends Closed {}

class Commented extends RestHandler {
	// override access = { '*': 'user' }
	override access: AccessRules = { get_a: 'user' }
	other = { '*': 'user' }
	get_a() {
		return { access: { '*': 'user' } }
	}
}

class BelowCommented extends Commented {
	override access: AccessRules = { get_a: 'anyone' }
}

class Below extends Dropping {}

const authenticator = { authenticate: () => null }
const top = RestHandler.prototype

describe('mount/warnings: inherited access', (test) => {
	const table: readonly (readonly [what: string, handler: RestHandler, isTold: boolean])[] = [
		['a class that drops it', new Dropping(), true],
		['a class below one that drops it', new Below(), true],
		['a class that has its own', new Open(), false],
		['a class that inherits it', new Inheriting(), false],
		['the class itself', new Closed(), false],
		['a class whose parent only mentions it', new BelowCommented(), false],
	]
	for (const [what, handler, isTold] of table)
		test(`${what} is ${isTold ? '' : 'not '}warned of`, () => {
			assert.is(droppedStar(handler, top) !== undefined, isTold)
		})

	test('fields as emitted by compilers for older targets are recognised', () => {
		const source = `return class Old extends Base { constructor() { super(); __publicField(this, "access", { "*": "user" }) } }`
		const old: unknown = new Function('Base', '__publicField', source)(
			RestHandler,
			(object: object, name: string, value: unknown) => Object.defineProperty(object, name, { value }),
		)
		assert.type(old, 'function')
		// The function has just returned a class that extends RestHandler.
		const Old = old as typeof RestHandler
		class Young extends Old {
			override access: AccessRules = {}
		}
		assert.match(String(droppedStar(new Young(), top)), /^Young\.access replaces that of Old/)
	})

	test('it is logged once, when the class is mounted, with what to write', () => {
		const { lines } = asking({ a: new Dropping(), b: new Open(), c: new Dropping() }, { authenticator })
		assert.equal(
			lines.map(({ level, message }) => [level, message]),
			[
				[
					'warn',
					`Dropping.access replaces that of Closed, which has '*': methods that it doesn't name are open to anyone. Say "'*': 'user'" there, or "'*': 'anyone'" where that is meant`,
				],
			],
		)
	})
})

describe('mount/warnings: changes that are open to anyone', (test) => {
	const OPTIONS: CrudOptions = {
		...{ visible: 'all', updatable: ['title'], creatable: ['title', 'body', 'state', 'owner', 'secret'] },
		allow: ['list', 'read', 'create', 'createMany', 'update'],
	}
	const authenticator = { authenticate: () => null }

	function said(handler: RestHandler, options: ServerOptions = { authenticator }): string[] {
		const logger = new Log()
		createServer({ articles: handler }, { logger, ...options })
		return logger.messages
	}

	const text = (label: string, names: string) =>
		`warn: ${label} has an authenticator, and anyone may use ${names}: declare access = { '*': 'user' }, or 'anyone' where that is meant`
	const opened = (access: AccessRules, Base = CrudHandler) => {
		class Articles extends Base {
			override access = access
		}
		return new Articles(articleModel(), OPTIONS)
	}

	test('are named, with the class or the path', () => {
		const names = 'create, update'
		assert.equal(said(new CrudHandler(articleModel(), OPTIONS)), [text('articles', names)])
		assert.equal(said(opened({ list: 'user' })), [text('Articles', names)])
		assert.equal(said(opened({ create: 'user' })), [text('Articles', 'update')])
	})

	test('are not where a rule says it, or there is nobody to authenticate', () => {
		for (const access of [{ '*': 'user' }, { '*': 'anyone' }, { create: 'anyone', update: 'user' }] as const)
			assert.equal(said(opened(access)), [])
		assert.equal(said(new CrudHandler(articleModel(), OPTIONS), {}), [])
		assert.equal(said(new CrudHandler(articleModel(), { ...OPTIONS, allow: ['list', 'read'] })), [])
	})

	test('are not where they are of records of another handler, whose rule it is', () => {
		class Notes extends CrudHandler {
			override access = { create: 'user' }
		}
		const article = new MemoryModel('article', { fields: { id: 'integer' }, key: 'id' })
		const note = new MemoryModel('note', {
			...{ fields: { id: 'integer', article: 'integer' }, key: 'id' },
			references: [{ field: 'article', model: article }],
		})
		const notes = new Notes(note, {
			visible: 'all',
			creatable: ['article'],
			allow: ['list', 'read', 'create'],
		})
		const articles = new CrudHandler(article, { visible: 'all', relations: { notes: { to: notes } } })
		assert.equal(said(articles), [])
	})

	test('are not where scope(), a hook or an override may decide', () => {
		class Own extends CrudHandler {
			override scope() {
				return { owner: String(this.user?.id) }
			}
		}
		class Hooked extends CrudHandler {
			override before() {}
		}
		class Overriding extends CrudHandler {
			override create(values: CrudValues) {
				return super.create(values)
			}
			override createMany(values: readonly CrudValues[]) {
				return super.createMany(values)
			}
		}
		assert.equal(said(opened({}, Own)), [])
		assert.equal(said(opened({}, Hooked)), [])
		assert.equal(
			said(new CrudHandler(articleModel(), OPTIONS), { authenticator, before: () => undefined }),
			[],
		)
		assert.equal(said(opened({}, Overriding)), [text('Articles', 'update')])
	})
})
