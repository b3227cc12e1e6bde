/** docs/from-php.md has each operation of the PHP handler, and the counterparts it names exist. */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'

const PAGE = 'docs/from-php.md'

/** The operations, and the member of ours that stands for each; the last is a function of the controller. */
const OPERATIONS: readonly (readonly [php: string, ours: string])[] = [
	['controller', 'controller'],
	['service()', 'service'],
	['cache', 'cache'],
	['wrap', 'wrap'],
	['wrap($data)', 'respond'],
	['suppress_output', 'suppressOutput'],
	['custom_routes', 'customRoutes'],
	['get__default', 'get__default'],
	['post__default', 'post__default'],
	['$_GET', 'query'],
	['$_POST', 'post'],
	['get_params($params)', 'getParams'],
	['get_put_data($decode)', 'getPutData'],
	['get_raw_post_data($decode)', 'getRawPostData'],
	['error($message, $code)', 'error'],
	['require_auth', 'requireAuth'],
	['require_acl($resource…)', 'requireAcl'],
	['strip_object($obj)', 'stripObject'],
]

/** What is no member of a handler as it comes: the controller's, and methods that users write. */
const ELSEWHERE = new Set(['service', 'get__default', 'post__default'])

describe('docs/from-php.md', (test) => {
	const page = readFileSync(`${ROOT}/${PAGE}`, 'utf8')
	const rows = page.split('\n').filter((line) => line.startsWith('| ['))

	test('has exactly one row per operation', () => {
		const names = rows.map((row) => /^\| \[`([^`]+)`/.exec(row)?.[1])
		assert.equal(
			names,
			OPERATIONS.map(([php]) => php),
		)
	})

	for (const [at, [php, ours]] of OPERATIONS.entries()) {
		test(`${php}: ${ours} is named, and exists`, () => {
			const [, , here = ''] = rows[at]?.split('|') ?? []
			assert.ok(new RegExp(`\\b${ours}\\b`).test(here), here)
			const handlers = [new RestHandler(), CrudHandler.prototype]
			assert.ok(ELSEWHERE.has(ours) || handlers.some((handler) => ours in handler), ours)
		})
	}

	test("names the controller's service()", () => {
		class Blog extends RestHandler {
			get_article() {
				return 1
			}
		}
		const { controller } = createServer({ blog: new Blog() })
		assert.throws(() => controller.service('blog', new Blog()), /blog/)
	})
})
