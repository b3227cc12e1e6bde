import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { decodeMultipart } from '../../../lib/request/body/multipart.ts'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { milliseconds, valueOrRefusal } from './refusal.ts'

describe('body/multipart: any body', (test) => {
	const split = (text: string): unknown => decodeMultipart(Buffer.from(text, 'latin1'), 'X')

	const text = fc.string({ unit: 'grapheme' })
	const name = text.filter((value) => value !== '__proto__' && !/[\\%]/.test(value))
	const entry = fc.record({
		name,
		file: fc.option(name.filter((value) => value !== '')),
		bytes: fc.uint8Array(),
		text,
	})

	/** FormData writes line breaks of names and of text as CR LF (HTML standard). */
	const normal = (value: string): string => value.replace(/\r\n|\r|\n/g, '\r\n')

	test('the output of FormData is read back', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (entries) => {
				const form = new FormData()
				for (const { name, file, bytes, text } of entries) {
					if (file === null) form.append(name, text)
					else form.append(name, new File([bytes], file, { type: 'image/png' }))
				}
				const sent = new Response(form)
				const boundary = /boundary=(.*)/.exec(sent.headers.get('content-type') ?? '')?.[1] ?? ''
				const { fields, files } = decodeMultipart(Buffer.from(await sent.arrayBuffer()), boundary)
				for (const { name } of entries) {
					const same = entries.filter((other) => normal(other.name) === normal(name))
					const strings = same.filter((other) => other.file === null).map((other) => normal(other.text))
					assert.equal(fields.all(normal(name)), strings)
					const sentFiles = same.filter((other) => other.file !== null)
					const got = files[normal(name)] ?? []
					assert.equal(
						got.map((file) => normal(file.name)),
						sentFiles.map((other) => normal(other.file ?? '')),
					)
					for (const [index, other] of sentFiles.entries()) {
						const bytes = new Uint8Array((await got[index]?.arrayBuffer()) ?? [])
						assert.equal(bytes, other.bytes)
					}
				}
			}),
		)
	})

	test('any pieces are parts or a refusal', () => {
		const piece = fc.constantFrom(
			...[
				'\r\n',
				'--X',
				'--',
				'\r',
				'\n',
				' ',
				'a',
				':',
				';',
				'"',
				'\\',
				'%22',
				'\xe9',
				'\0',
				'--X--',
				'\r\n--X\r\n',
			],
			...[
				'Content-Disposition: form-data; name=a',
				'; filename="b"',
				'Content-Type: ',
				'text/plain',
				'; charset=x',
			],
		)
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
				valueOrRefusal(() => split(pieces.join('')))
				valueOrRefusal(() => split(`--X\r\n${pieces.join('')}\r\n--X--`))
			}),
			{ numRuns: trials(1_000) },
		)
		fc.assert(
			fc.property(fc.uint8Array(), fc.string(), (bytes, boundary) => {
				valueOrRefusal(() => decodeMultipart(Buffer.from(bytes), boundary))
			}),
		)
	})

	const megabyte = (piece: string): string => piece.repeat(Math.ceil(1_000_000 / piece.length))
	const long = 'x'.repeat(70)
	for (const [name, content, boundary] of [
		['lookalikes', megabyte('\r\n--XX'), 'X'],
		['closing lookalikes', megabyte('\r\n--X--y'), 'X'],
		['half delimiters', megabyte('\r\n--X'), 'XX'],
		['line breaks', megabyte('\r\n'), 'X'],
		['padding', megabyte('\r\n--X \t y'), 'X'],
		['one long padding', `\r\n--X${' '.repeat(1_000_000)}y`, 'X'],
		['almost the longest boundary', megabyte(`\r\n--${long.slice(1)}`), long],
		['the longest boundary, lookalikes', megabyte(`\r\n--${long}x`), long],
		['x', megabyte('x'), long],
	] as const) {
		test(`a megabyte of ${name} is split in linear time`, () => {
			const body = `--${boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\n${content}\r\n--${boundary}--`
			const bytes = Buffer.from(body)
			const time = milliseconds(() => decodeMultipart(bytes, boundary))
			assert.ok(time < 500, `${time} ms`)
			assert.is(decodeMultipart(bytes, boundary).fields.last.a, content)
		})
	}
})
