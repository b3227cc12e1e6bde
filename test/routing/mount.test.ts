import * as assert from 'uvu/assert'
import { RouteTable } from '../../lib/routing/custom/custom-routes.ts'
import { LookupTable } from '../../lib/routing/lookup.ts'
import { type Mount, MountTree } from '../../lib/routing/mount.ts'
import { describe } from '../helpers/describe.ts'

function mount(...path: string[]): Mount {
	return {
		path,
		name: path.join('/'),
		view: () => ({}),
		routes: new RouteTable(),
		table: new LookupTable(),
		wrap: true,
		silent: false,
		authenticator: undefined,
		acl: undefined,
		idempotencyKeys: 'user',
		deprecation: undefined,
		hooks: undefined,
		ways: [],
		setUp: undefined,
	}
}

describe('mount/mount', (test) => {
	const tree = new MountTree()
	for (const path of [['blog'], ['blog', 'api'], ['blog', 'api', 'v2', 'deep'], ['x', 'y']]) {
		assert.ok(tree.add(mount(...path)))
	}

	const table: [string[], string | undefined, number][] = [
		[['blog'], 'blog', 1],
		[['blog', 'article', '5'], 'blog', 1],
		[['blog', 'api'], 'blog/api', 2],
		[['blog', 'api', 'article'], 'blog/api', 2],
		[['blog', 'api', 'v2'], 'blog/api', 2],
		[['blog', 'api', 'v2', 'other'], 'blog/api', 2],
		[['blog', 'api', 'v2', 'deep', 'a', 'b'], 'blog/api/v2/deep', 4],
		[['blog/api'], undefined, 0],
		[['Blog'], undefined, 0],
		[['x'], undefined, 0],
		[['x', 'y'], 'x/y', 2],
		[[], undefined, 0],
		[['__proto__'], undefined, 0],
	]
	for (const [segments, name, depth] of table) {
		test(`/${segments.map(encodeURIComponent).join('/')} leads to ${name}`, () => {
			const found = tree.find(segments)
			assert.equal([found?.mount.name, found?.depth ?? 0], [name, depth])
		})
	}

	test('a handler at the root answers for what has no longer path', () => {
		const rooted = new MountTree()
		rooted.add(mount())
		rooted.add(mount('a'))
		assert.equal(rooted.find(['b'])?.depth, 0)
		assert.equal(rooted.find([])?.depth, 0)
		assert.equal(rooted.find(['a', 'b'])?.depth, 1)
	})

	test('a path that is taken is not given again', () => {
		const twice = new MountTree()
		assert.ok(twice.add(mount('a', 'b')))
		assert.not(twice.add(mount('a', 'b')))
		assert.ok(twice.add(mount('a')))
		assert.ok(twice.add(mount()))
		assert.not(twice.add(mount()))
	})
})
