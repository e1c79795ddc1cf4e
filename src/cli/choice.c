/* Verbs that make things with names - reports, formats - of files. The library says which names
 * there are; each becomes an option, before the verb's own. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

void cli_choice_offer(cli_choice *choice, const char *(*name_at)(size_t),
                      const char *(*description_at)(size_t), const cli_option *own,
                      size_t own_count)
{
    const char *name;
    size_t count = 0;

    for (; count < CLI_MOST_NAMES && (name = name_at(count)); count++)
        choice->options[count] = (cli_option){0, name, NULL, description_at(count)};
    choice->name_count = count;
    memcpy(choice->options + count, own, own_count * sizeof *own);
    choice->syntax.options = choice->options;
    choice->syntax.option_count = count + own_count;
}

void cli_choice_want(cli_choice *choice, const char *name)
{
    for (size_t i = 0; i < choice->wanted_count; i++)
        if (strcmp(choice->wanted[i], name) == 0)
            return;
    choice->wanted[choice->wanted_count++] = name;
}

int cli_choice_parse(cli_choice *choice, int argc, char **argv, cli_take_option *take, void *user)
{
    cli_args args = cli_args_of(&choice->syntax, argc, argv);
    const char *value = NULL;
    int item, names = (int)choice->name_count;

    choice->files = calloc((size_t)argc, sizeof *choice->files);
    if (!choice->files)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    while ((item = cli_args_next(&args, &value)) != CLI_NO_ITEM) {
        int status = CLI_OK;
        if (item == CLI_HELP)
            return CLI_OK;
        if (item == CLI_ERROR)
            return CLI_USAGE;
        if (item == CLI_OPERAND)
            choice->files[choice->file_count++] = argv[args.next - 1];
        else if (item < names)
            cli_choice_want(choice, choice->options[item].name);
        else
            status = take(user, item - names, value);
        if (status != CLI_OK)
            return status;
    }
    if (choice->file_count == 0)
        return cli_usage_error(&choice->syntax, "which file? name one or more traces");
    return CLI_NO_ITEM;
}
