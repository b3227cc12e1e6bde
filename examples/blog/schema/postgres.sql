-- The blog's tables, where they are not there yet. Each statement ends in a semicolon at the end of a line.

create table if not exists authors (
	id integer generated always as identity primary key,
	name varchar(100) not null,
	email varchar(200) not null unique,
	about text not null default '',
	joined date not null default current_date
);

create table if not exists articles (
	id integer generated always as identity primary key,
	author_id integer not null references authors (id),
	topic varchar(30) not null,
	tags jsonb not null default '[]',
	title varchar(200) not null,
	body text not null,
	published timestamptz(3) not null default now(),
	version integer not null default 1
);

create index if not exists articles_by_author on articles (author_id, published);
create index if not exists articles_by_topic on articles (topic, published);
create index if not exists articles_by_day on articles (published, id);

create table if not exists comments (
	id integer generated always as identity primary key,
	article_id integer not null references articles (id) on delete cascade,
	name varchar(100) not null,
	text varchar(2000) not null,
	written timestamptz(3) not null default now()
);

create index if not exists comments_by_article on comments (article_id, written);
