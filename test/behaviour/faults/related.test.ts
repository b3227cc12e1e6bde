/** Requests through relations whose database connection is ended, or that wait too long for a lock. */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { trials } from '../../helpers/trials.ts'
import { ask, assertUnavailable } from './answers.ts'
import { atRelated, lockedOut, READS, underFire, untilWhole } from './related.ts'
import { relatedCases } from './related-stores.ts'

const TABLES = ['author', 'article', 'comment', 'tag', 'article_tag']

const cases = await relatedCases()

for (const { name, isSteady, open } of cases)
	describe(`relations over a failing database, ${name}`, (test) => {
		test('a read whose connection is ended in any of its statements is 503, and the next one is whole', () =>
			atRelated(open(), async (site) => {
				const harmed = new Map<string, string[]>()
				for (const path of READS)
					for (const table of TABLES) {
						const { answer, isHarmed } = await lockedOut(
							site,
							table,
							() => site.read(path),
							() => site.store.end('waiting'),
						)
						assert.is(answer, isHarmed ? 'unavailable' : 'whole', `${path}, ${table}`)
						if (isHarmed) harmed.set(path, [...(harmed.get(path) ?? []), table])
						await untilWhole(() => site.read(path))
					}
				assert.equal(
					[...harmed.values()],
					[
						['author', 'article', 'comment', 'tag', 'article_tag'],
						['author', 'article', 'comment', 'tag', 'article_tag'],
						['article', 'comment', 'tag', 'article_tag'],
						['author', 'article', 'comment'],
						['author', 'article', 'comment'],
						['author', 'article', 'comment', 'tag', 'article_tag'],
						['author', 'article'],
					],
				)
			}))

		test('a read that waits too long for a lock is 503', () =>
			atRelated(open({ lockSeconds: 1 }), async (site) => {
				const paths = READS.slice(0, 4)
				for (const [at, table] of ['comment', 'author', 'tag', 'article'].entries()) {
					const path = paths[at] ?? ''
					const { answer } = await lockedOut(
						site,
						table,
						() => site.read(path),
						async () => {},
					)
					assert.is(answer, 'unavailable')
				}
			}))

		test('a tie whose connection is ended is not done or has an unknown outcome, and can be repeated', () =>
			atRelated(open(), async (site) => {
				const tie = () => fetch(site.url('article/21/tags/4'), { method: 'PUT' })
				const places: readonly [table: string, id?: number][] = [
					...TABLES.map((table): [string] => [table]),
					['tag', 4],
				]
				for (const [table, id] of places) {
					const { answer, isHarmed } = await lockedOut(site, table, tie, () => site.store.end('waiting'), id)
					const { code } = (answer.status === 204 ? {} : await answer.json()) as { code?: string }
					// Only the last statement writes, and waits for a record that it refers to.
					const isWrite = id !== undefined
					if (!isHarmed) assert.is(answer.status, 204)
					else assert.equal([answer.status, code], [503, isWrite ? 'outcome_unknown' : 'unavailable'])
					if (isWrite) assert.ok(isHarmed)
					if (isHarmed) assert.equal(await tiesOf(site.store), [])
					await until(async () => (await tie()).status === 204, 'it is tied')
					assert.equal(await tiesOf(site.store), [['4']])
					assert.is((await fetch(site.url('article/21/tags/4'), { method: 'DELETE' })).status, 204)
				}
			}))

		test('a change whose related records are not read has an unknown outcome; one without changes is unavailable', () =>
			atRelated(open({ lockSeconds: 1 }), async (site) => {
				const patch = (body: object) => () => ask(site.url('article/21?include=tags'), 'PATCH', body)
				const nothing = async () => {}
				const { answer } = await lockedOut(site, 'tag', patch({ title: 'new' }), nothing)
				assert.equal([answer.status, answer.body.code], [503, 'outcome_unknown'])
				assert.is(answer.headers.get('retry-after'), '5')
				assert.equal(await site.store.rows('select title from T_article where id = 21'), [['new']])
				const { answer: unchanged } = await lockedOut(site, 'tag', patch({}), nothing)
				assertUnavailable(unchanged, /^unavailable$/)
			}))

		if (isSteady)
			test('connections that are ended at random: reads are whole or 503, writes are as their answers say', () =>
				atRelated(open(), async (site) => {
					await underFire(site, trials(6), () => site.store.end('any'))
				}))
	})

async function tiesOf({ rows }: { rows(text: string): Promise<string[][]> }): Promise<string[][]> {
	return rows('select tag_id from T_article_tag where article_id = 21')
}
