-- The blog's tables, where they are not there yet: for MariaDB 10.6 and MySQL 8.0.13 and later.
-- Each statement ends in a semicolon at the end of a line.

create table if not exists authors (
	id integer not null auto_increment primary key,
	name varchar(100) not null,
	email varchar(200) not null unique,
	about varchar(2000) not null default '',
	joined date not null default (current_date)
) default character set utf8mb4;

create table if not exists articles (
	id integer not null auto_increment primary key,
	author_id integer not null,
	topic varchar(30) not null,
	tags json not null default (json_array()),
	title varchar(200) not null,
	body text not null,
	published timestamp(3) not null default current_timestamp(3),
	version integer not null default 1,
	foreign key (author_id) references authors (id),
	index articles_by_author (author_id, published),
	index articles_by_topic (topic, published),
	index articles_by_day (published, id)
) default character set utf8mb4;

create table if not exists comments (
	id integer not null auto_increment primary key,
	article_id integer not null,
	name varchar(100) not null,
	text varchar(2000) not null,
	written timestamp(3) not null default current_timestamp(3),
	foreign key (article_id) references articles (id) on delete cascade,
	index comments_by_article (article_id, written)
) default character set utf8mb4;
