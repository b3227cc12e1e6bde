import * as assert from 'uvu/assert'
import { offsetOf } from '../../../lib/models/sql/offsets.ts'
import { TimeZone } from '../../../lib/models/totals/time-zone.ts'
import { describe } from '../../helpers/describe.ts'

const WORDS = {
	isBefore: (time: string, moment: string) => `${time}<${moment}`,
	folded: (time: string) => `folded(${time})`,
}
const sqlOf = (from: number, to: number, words: Parameters<typeof offsetOf>[3] = WORDS) => {
	const spans = new TimeZone('Europe/Berlin').spans(Date.UTC(from, 0), Date.UTC(to, 0))
	return { spans, sql: offsetOf('t', spans, Date.UTC(to, 0), words) }
}

describe('models/sql/offsets', (test) => {
	test('a time is searched by quarters', () => {
		assert.is(
			sqlOf(2026, 2026).sql,
			'case when t<2025-10-26T01:00:00 then case when t<2025-03-30T01:00:00 then 3600 else 7200 end' +
				' when t<2026-10-25T01:00:00 then case when t<2026-03-29T01:00:00 then 3600 else 7200 end' +
				' when t<2027-10-31T01:00:00 then case when t<2027-03-28T01:00:00 then 3600 else 7200 end else 3600 end',
		)
	})

	test('for a thousand spans there are few levels, each span is written once, and a time is compared rarely', () => {
		const { spans, sql } = sqlOf(1800, 2498)
		assert.ok(spans.length > 1_000)
		let [depth, deepest] = [0, 0]
		for (const [word] of sql.matchAll(/\b(?:case|end)\b/g)) {
			depth += word === 'case' ? 1 : -1
			deepest = Math.max(deepest, depth)
		}
		assert.is(deepest, 6)
		assert.is(sql.match(/t</g)?.length, spans.length - 1)
	})

	test('times from 2500 on are searched as those that they are like', () => {
		const { spans, sql } = sqlOf(2400, 9999)
		assert.match(sql, /^case when t<2500-01-01T00:00:00 then case when t</)
		assert.is(sql.match(/t</g)?.length, spans.length)
		const folded = sql.slice(sql.indexOf('folded'))
		assert.is(folded.match(/folded\(t\)</g)?.length, 800, 'of 400 years')
		assert.not.match(folded, / t</)
	})

	test('a database that can evaluate the time once has one search', () => {
		const once = (value: string, write: (name: string) => string) => `[${write('x')} for ${value}]`
		const { spans, sql } = sqlOf(2400, 9999, { ...WORDS, once })
		assert.match(sql, / for case when t<2500-01-01T00:00:00 then t else folded\(t\) end\]$/)
		assert.is(sql.match(/x</g)?.length, spans.length - 1)
	})
})
