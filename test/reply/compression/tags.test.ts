import * as assert from 'uvu/assert'
import { CODINGS, type Coding } from '../../../lib/reply/compression/codings.ts'
import { markedTag, namedTag, unmarkTags } from '../../../lib/reply/compression/tags.ts'
import { describe } from '../../helpers/describe.ts'

function coding(name: 'br' | 'gzip'): Coding {
	const found = CODINGS.get(name)
	assert.ok(found)
	return found
}

describe('compression: tags', (test) => {
	test('a strong one has a name for each coding, a weak one stands for all', () => {
		assert.is(markedTag('"5"', coding('br')), '"5;br"')
		assert.is(markedTag('""', coding('gzip')), '";gzip"')
		assert.is(markedTag('W/"5"', coding('br')), 'W/"5"')
		assert.is(markedTag('5', coding('br')), '5')
	})

	const sent: [name: 'if-match' | 'if-none-match', value: string, seen: string][] = [
		['if-match', '"5;br"', '"5"'],
		['if-match', '"5"', '"5"'],
		['if-match', '"5;br", "6;gzip", "7;zstd"', '"5", "6", "7"'],
		['if-match', '*', '*'],
		['if-match', 'W/"5;br"', 'W/"5"'],
		['if-none-match', '"a-br","b;deflate"', '"a-br","b;deflate"'],
		['if-none-match', '";br"', '""'],
		['if-none-match', '"5;br', '"5;br'],
	]
	for (const [name, value, seen] of sent) {
		test(`${name}: ${value} is read as ${seen}`, () => {
			const headers = { [name]: value }
			unmarkTags(headers)
			assert.equal(headers, { [name]: seen })
		})
	}

	test('If-Range keeps them: a part of other bytes would not fit', () => {
		const headers = { 'if-range': '"5;br"' }
		unmarkTags(headers)
		assert.equal(headers, { 'if-range': '"5;br"' })
	})

	const named: [sent: string, chosen: 'br' | 'gzip' | undefined, tag: string][] = [
		['"5"', undefined, '"5"'],
		['"5"', 'br', '"5"'],
		['"5;br"', 'br', '"5;br"'],
		['"5;br"', 'gzip', '"5;br"'],
		['"5;br", "5;gzip"', 'gzip', '"5;gzip"'],
		['"5", "5;br"', undefined, '"5"'],
		['"5", "5;br"', 'br', '"5;br"'],
		['*', 'br', '"5"'],
		['"5;zstd"', 'br', '"5;zstd"'],
		['"15;br"', 'br', '"5"'],
	]
	for (const [sent, chosen, tag] of named) {
		test(`a 304 for ${sent}, where ${chosen ?? 'none'} is taken, has ${tag}`, () => {
			assert.is(namedTag('"5"', sent, chosen === undefined ? undefined : coding(chosen)), tag)
		})
	}
})
