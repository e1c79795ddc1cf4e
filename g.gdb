set pagination off
set breakpoint pending on
handle SIGUSR1 nostop noprint
break marker
run trace 4
break tkt_resize thread 1
commands
silent
bt 7
continue
end
break tkt_free thread 1
commands
silent
bt 5
continue
end
continue
kill
