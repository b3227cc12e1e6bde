/** Shared by the routing tests: a handler that returns which method was called, and the usual refusals. */
import { RestHandler } from '../../../lib/index.ts'

export const NOT_FOUND = '404 {"success":false,"error":"Not Found","code":"not_found"}'
export const NOT_ALLOWED = '405 {"success":false,"error":"Method Not Allowed","code":"method_not_allowed"}'

/** Answers which method was called, and with what. */
export class Echo extends RestHandler {
	override customRoutes = {
		'GET|POST custom/%s/page/%d': 'page',
		'ALL ping': 'ping',
		'PUT article/%d': 'replace',
		'GET files/%s': 'file',
	}
	get_article(id?: string) {
		return ['get_article', id]
	}
	post_article() {
		return ['post_article', this.request.method]
	}
	delete_article(id: string) {
		return ['delete_article', id]
	}
	get_blog_post() {
		return 'get_blog_post'
	}
	async get_waits(a: string) {
		return ['get_waits', a]
	}
	get_rest(...all: string[]) {
		return ['get_rest', ...all]
	}
	get_first(first: string, ...all: string[]) {
		return ['get_first', first, all]
	}
	get_default(value = 'none') {
		return ['get_default', value]
	}
	'get_quoted-name'(a: string) {
		return ['get_quoted-name', a]
	}
	get_commented(/* { */ a: string /* ) => */) {
		return ['get_commented', a]
	}
	get_arguments() {
		// biome-ignore lint/complexity/noArguments: this is what is tested
		return ['get_arguments', ...(arguments as unknown as string[])]
	}
	query_search(...all: string[]) {
		return ['query_search', ...all]
	}
	page(name: string, number: number) {
		return ['page', name, number]
	}
	ping() {
		return `ping ${this.request.method}`
	}
	replace(id: number) {
		return ['replace', id]
	}
	file(name: string) {
		return ['file', name]
	}
	get_files() {
		return 'never, as a custom route comes first'
	}
	patch_files(...all: string[]) {
		return ['patch_files', ...all]
	}
	helper() {
		return 'helper'
	}
	_hidden() {
		return 'hidden'
	}
	get_() {
		return 'get_'
	}
	get_secret = 'secret'
}
