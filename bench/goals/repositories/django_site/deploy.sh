#!/bin/sh
# Called by Rahim's cron on the server. Do not rename.
cd /srv/ponno || exit 1
git pull
docker build -t ponno .
docker stop ponno; docker rm ponno
docker run -d --name ponno -p 8000:8000 --env-file /etc/ponno.env ponno
