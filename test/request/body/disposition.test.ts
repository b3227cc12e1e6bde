import * as assert from 'uvu/assert'
import { parseDisposition } from '../../../lib/request/body/disposition.ts'
import { describe } from '../../helpers/describe.ts'
import { refusalText } from './refusal.ts'

describe('decode/disposition', (test) => {
	const table: [string, string, string, string | undefined][] = [
		['browsers', 'form-data; name="a"', 'a', undefined],
		['browsers, a file', 'form-data; name="a"; filename="b.txt"', 'a', 'b.txt'],
		['browsers, no file chosen', 'form-data; name="a"; filename=""', 'a', ''],
		[
			'browsers, quote and line break',
			'form-data; name="a%22b%0D%0A"; filename="%22.txt"',
			'a"b\r\n',
			'".txt',
		],
		['browsers, a percent sign', 'form-data; name="50%"; filename="%41%0d%.txt"', '50%', '%41%0d%.txt'],
		['browsers, beyond ASCII', 'form-data; name="é"; filename="漢 🌱.png"', 'é', '漢 🌱.png'],
		['a Windows path', 'form-data; name="a"; filename="C:\\dir\\new.txt"', 'a', 'C:\\dir\\new.txt'],
		['curl before 7.81', 'form-data; name="a"; filename="q\\"uote\\\\.txt"', 'a', 'q"uote\\.txt'],
		['a backslash before %22', 'form-data; name="a"; filename="\\%22"', 'a', '\\"'],
		['.NET', "form-data; name=a; filename=b.txt; filename*=utf-8''b.txt", 'a', 'b.txt'],
		[
			'filename* wins',
			'form-data; filename*=UTF-8\'en\'na%C3%AFve%20%22.txt; filename="x"; name=a',
			'a',
			'naïve ".txt',
		],
		['filename* alone', "form-data; name=a; filename*=utf-8''%E6%BC%A2", 'a', '漢'],
		['any case, no space', 'Form-Data;NAME="a";FileName=b', 'a', 'b'],
		['an empty name', 'form-data; name=""', '', undefined],
		['separators in quotes', 'form-data; name="a; filename=b"', 'a; filename=b', undefined],
		['unknown parameters', "form-data; name=a; size=3; name*=utf-8''b", 'a', undefined],
		['a path, which is data', 'form-data; name=a; filename="../../etc/passwd"', 'a', '../../etc/passwd'],
		['a trailing semicolon', 'form-data; name=a;', 'a', undefined],
	]
	for (const [name, header, field, filename] of table) {
		test(`${name}: ${header}`, () => {
			assert.equal(parseDisposition(header, 'Part 3'), { name: field, filename })
		})
	}

	const notFormData = '400 The Content-Disposition of part 3 must be form-data'
	const malformed =
		'400 The Content-Disposition of part 3 is malformed: parameters are ; name="value", each once'
	const noName = '400 The Content-Disposition of part 3 has no name'
	const extended =
		"400 The Content-Disposition of part 3 has a wrong filename*: it must be UTF-8'' and percent-encoded text"
	const refusals: [string, string][] = [
		['', notFormData],
		['attachment; name=a', notFormData],
		['form-datax; name=a', notFormData],
		['form-data', noName],
		['form-data; filename=a', noName],
		["form-data; name*=utf-8''a", noName],
		['form-data name=a', malformed],
		['form-data; name=a b', malformed],
		['form-data; name="a', malformed],
		['form-data; name="a\\"', malformed],
		['form-data; name=é', malformed],
		['form-data; name=a; name=b', malformed],
		['form-data; name=a; filename=b; FILENAME=c', malformed],
		['form-data; name=__proto__', '400 Part 3 is named __proto__, which is reserved'],
		['form-data; name="__proto__"', '400 Part 3 is named __proto__, which is reserved'],
		["form-data; name=a; filename*=iso-8859-1''%E9", extended],
		["form-data; name=a; filename*=utf-8''%E9", extended],
		["form-data; name=a; filename*=utf-8''%", extended],
		['form-data; name=a; filename*=b.txt', extended],
	]
	for (const [header, expected] of refusals) {
		test(`${header || 'nothing'} is refused`, () => {
			assert.is(
				refusalText(() => parseDisposition(header, 'Part 3')),
				expected,
			)
		})
	}
})
