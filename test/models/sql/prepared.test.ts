/** What drivers keep prepared: few of the statements that clients can ask for. */
import * as assert from 'uvu/assert'
import { isKept, PreparedTexts } from '../../../lib/models/sql/prepared.ts'
import { describe } from '../../helpers/describe.ts'

describe('isKept', (test) => {
	const statement = (length: number, values: number) => ({
		text: 'x'.repeat(length),
		values: Array.from({ length: values }, () => 1),
		writes: false,
	})
	const table: [text: number, values: number, kept: boolean][] = [
		[3_000, 2, true],
		// A gathered read of 100 ids, which MariaDB's pads to 128.
		[3_000, 128, true],
		[3_000, 129, false],
		[32_768, 0, true],
		[32_769, 0, false],
	]
	for (const [text, values, kept] of table) {
		test(`${text} characters and ${values} values: ${kept}`, () =>
			assert.is(isKept(statement(text, values)), kept))
	}
})

describe('PreparedTexts', (test) => {
	/** As drivers ask: what isn't kept is kept from the second time on. */
	function asking() {
		const dropped: string[] = []
		const texts = new PreparedTexts<string>((text) => dropped.push(text))
		const ask = (text: string): boolean => {
			if (texts.get(text) !== undefined) return true
			if (texts.isAskedAgain(text)) texts.add(text, `what is kept for ${text}`)
			return false
		}
		return { dropped, texts, ask }
	}
	const numbered = (count: number, from = 0) =>
		Array.from({ length: count }, (_, at) => `select ${from + at}`)

	test('keeps what is asked for a second time, and from then on answers it', () => {
		const { ask, texts } = asking()
		assert.equal([ask('select 1'), ask('select 1'), ask('select 1')], [false, false, true])
		assert.is(texts.get('select 1'), 'what is kept for select 1')
		texts.replace('select 1', 'another')
		assert.is(texts.get('select 1'), 'another')
	})

	test('keeps 500, of which the one used longest ago makes room', () => {
		const { ask, texts, dropped } = asking()
		for (const text of numbered(500)) for (let time = 0; time < 2; time++) ask(text)
		assert.ok(ask('select 0'))
		for (let time = 0; time < 2; time++) ask('one more')
		assert.equal(dropped, ['select 1'])
		assert.ok(ask('select 0') && ask('select 2') && ask('one more'))
		assert.is(texts.get('select 1'), undefined)
	})

	test('what is asked for once takes no place, however much of it there is', () => {
		const { ask, dropped } = asking()
		for (const text of numbered(500)) for (let time = 0; time < 2; time++) ask(text)
		for (const text of numbered(10_000, 500)) assert.not(ask(text))
		assert.equal(dropped, [])
		// Remembered of it are the last 500.
		ask('select 9999')
		ask('select 10499')
		assert.not(ask('select 9999'))
		assert.ok(ask('select 10499'))
	})

	test('keeps half a MiB of texts, and as much of those that were asked for once', () => {
		const { ask, dropped, texts } = asking()
		const long = (n: number) => `select ${n} -- `.padEnd(32_768, 'x')
		for (let n = 0; n < 20; n++) for (let time = 0; time < 2; time++) ask(long(n))
		assert.equal(dropped, [0, 1, 2, 3].map(long))
		for (let n = 20; n < 40; n++) ask(long(n))
		assert.not(ask(long(20)))
		assert.not(ask(long(39)))
		assert.is(texts.get(long(39)), 'what is kept for '.concat(long(39)))
		assert.is(texts.get(long(20)), undefined)
	})

	test('keeps nothing any more when it was cleared', () => {
		const { ask, texts } = asking()
		for (let time = 0; time < 2; time++) ask('select 1')
		ask('select 2')
		texts.clear()
		assert.equal([ask('select 1'), ask('select 2')], [false, false])
		assert.equal([texts.get('select 1'), texts.get('select 2')], [undefined, undefined])
	})
})
