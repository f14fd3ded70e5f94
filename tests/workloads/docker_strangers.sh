#!/bin/bash
# A script that enters a service of somebody else's, then waits for an image that never comes. Meanwhile a
# container of somebody else's starts.
#   docker_strangers.sh DOCKER IMAGE
docker=$1 image=$2

sleep 2 # until a scan has found the containers that ran before
"$docker" exec web sh -c 'scan --cpu 20; merge --sleep 1500' &
sleep 0.5
"$docker" restart --time 0 stray
wait
"$docker" run "$image" polish --cpu 20 &
waiting=$!
sleep 0.5
"$docker" restart --time 0 stray
sleep 0.5
kill "$waiting"
wait
