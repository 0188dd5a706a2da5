/* modes.c - the rules of each mode: tables. */
#include "permissions/permissions.h"

#include "base/base_in.h"

/* A rule on tools and files; on commands; and on commands with words that make them worse. */
#define PHI__MODES_TOOL(verdict, tool, path, reason)                                               \
    {                                                                                              \
        PHI_PERMISSION_##verdict, tool, NULL, NULL, NULL, NULL, path, NULL, NULL, NULL, reason,    \
            NULL, NULL                                                                             \
    }
#define PHI__MODES_READS(command, without)                                                         \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, without, NULL, "./**", NULL, NULL, NULL,      \
            "it only reads", NULL, NULL                                                            \
    }
/* The same, with these options and no other: from the manuals of GNU, git, ripgrep and tree. */
#define PHI__MODES_OPTIONS(command, options)                                                       \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, NULL, NULL, "./**", NULL, NULL, NULL,         \
            "it only reads", options, NULL                                                         \
    }
#define PHI__MODES_BOTH(command, without, options)                                                 \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, without, NULL, "./**", NULL, NULL, NULL,      \
            "it only reads", options, NULL                                                         \
    }
#define PHI__MODES_PLAIN(command)                                                                  \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, NULL, NULL, NULL, NULL, NULL, NULL,           \
            "it only prints", NULL, NULL                                                           \
    }
/* The same, where words that are not known may make it worse. */
#define PHI__MODES_KNOWN(command, without)                                                         \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, without, NULL, NULL, NULL, NULL, NULL,        \
            "it only prints", NULL, NULL                                                           \
    }
#define PHI__MODES_EDITS(command, options)                                                         \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, NULL, NULL, "./**", NULL, NULL, NULL,         \
            "edits are accepted", options, NULL                                                    \
    }
/* A rule on a command of any tool. */
#define PHI__MODES_COMMAND(verdict, command, with, without, piped, path, reason)                   \
    {                                                                                              \
        PHI_PERMISSION_##verdict, NULL, command, with, without, piped, path, NULL, NULL, NULL,     \
            reason, NULL, NULL                                                                     \
    }
#define PHI__MODES_DENY(command, with, without, piped, reason)                                     \
    PHI__MODES_COMMAND(DENY, command, with, without, piped, NULL, reason)
#define PHI__MODES_DENY_PATH(command, with, path, reason)                                          \
    PHI__MODES_COMMAND(DENY, command, with, NULL, NULL, path, reason)
#define PHI__MODES_ASK_DOWNLOAD(command, with, without)                                            \
    PHI__MODES_COMMAND(ASK, command, with, without, PHI__MODES_DOWNLOADS, NULL,                    \
                       "it may run what it downloads")

#define PHI__MODES_ASK(command, with, path, reason)                                                \
    {                                                                                              \
        PHI_PERMISSION_ASK, "bash", command, with, NULL, NULL, path, NULL, NULL, NULL, reason,     \
            NULL, NULL                                                                             \
    }

#define PHI__MODES_SHELLS "sh|bash|dash|zsh|ksh|ash"
#define PHI__MODES_HOMES "~|~/|~/[*]|$HOME|$HOME/|$HOME/[*]|${HOME}|${HOME}/|${HOME}/[*]"
#define PHI__MODES_ROOTS                                                                           \
    "/|//|/.|/..|/[*]|/bin|/boot|/dev|/etc|/home|/lib|/lib64|/opt|/root|/sbin|/srv|/sys|/usr|"     \
    "/var|/bin/|/boot/|/dev/|/etc/|/home/|/lib/|/lib64/|/opt/|/root/|/sbin/|/srv/|/sys/|/usr/|"    \
    "/var/|" PHI__MODES_HOMES

/* Directories of the system in whatever spelling ("//", "/usr/local/.."); and those of people. */
#define PHI__MODES_SYSTEM_PATHS                                                                    \
    "/|/[*]|/.[*]|/bin|/boot|/dev|/etc|/home|/lib|/lib32|/lib64|/opt|/root|/sbin|/srv|/sys|/usr|"  \
    "/var|/mnt|/media|/run|/proc|/snap|/nix|/Users|/System|/Library|/Applications|/usr/*|/bin/*|"  \
    "/boot/*|/dev/*|/lib/*|/lib32/*|/lib64/*|/sbin/*|/etc/[*]|/var/[*]|/home/[*]|/Users/[*]|"      \
    "/opt/[*]|/root/[*]|/srv/[*]|/mnt/[*]|/media/[*]|/proc/[*]|/sys/[*]"
#define PHI__MODES_HOME_PATHS "/home/*|/Users/*|/home/*/[*]|/Users/*/[*]|~|~/[*]"
#define PHI__MODES_KEY_DIRECTORIES "**/.ssh/**|**/.gnupg/**|**/.aws/**|**/.azure/**|**/.kube/**"
#define PHI__MODES_DISKS                                                                           \
    "/dev/sd*|/dev/hd*|/dev/vd*|/dev/xvd*|/dev/nvme*|/dev/mmcblk*|/dev/disk/**|/dev/dm-*|"         \
    "/dev/mapper/*|/dev/md[0-9]*|/dev/loop*|/dev/disk[0-9]*|/dev/rdisk*|/dev/nbd*|/dev/zd*|"       \
    "/dev/block/**"

/* Programs that run a program which they read; and those that read from the network. */
#define PHI__MODES_READERS                                                                         \
    "sh|bash*|dash|zsh*|ksh*|ash|hush|mksh|fish|csh|tcsh|yash|posh|rbash|pwsh|source|."
#define PHI__MODES_LANGUAGES                                                                       \
    "python*|pypy*|perl*|ruby*|node|deno|bun|php*|lua*|tclsh*|julia|osascript|Rscript"
#define PHI__MODES_DOWNLOADS                                                                       \
    "curl|wget|wget2|fetch|aria2c|axel|lynx|w3m|http|https|xh|curlie|GET|lwp-request|nc|ncat|"     \
    "netcat|socat|telnet|openssl|ftp|ssh"
#define PHI__MODES_SUBSTITUTED "*$(*|*<(*|*`*"

/* Options that write no file, run no program, and read no file which they name themselves. */
#define PHI__MODES_GREP_OPTIONS                                                                    \
    "-[0-9acEFHhIilnoPqsvwx]|-[ABCem]*|--line-number|--ignore-case|--word-regexp|"                 \
    "--count|--files-with-matches|--context=*|--before-context=*|--after-context=*|--color*"
#define PHI__MODES_GIT_OPTIONS                                                                     \
    "-[0-9abcilmopqrstuvwzM]|-[nSGLUC]*|--oneline|--stat*|--shortstat|--numstat|--summary|"        \
    "--graph|--all|--decorate*|--no-decorate|--name-only|--name-status|--cached|--staged|"         \
    "--pretty=*|--format=*|--since=*|--until=*|--after=*|--before=*|--author=*|--grep=*|"          \
    "--abbrev-commit|--abbrev=*|--date=*|--color*|--no-color|--word-diff*|--max-count=*|"          \
    "--reverse|--first-parent|--merges|--no-merges|--follow|--patch|--no-patch|--unified=*|"       \
    "--find-renames*|--diff-filter=*|--ignore-all-space|--ignore-space-change|--no-ext-diff|"      \
    "--no-textconv|--no-pager|--check|--raw|--topo-order|--date-order|--branches|--remotes|"       \
    "--porcelain*|--short*|--branch|--long|--untracked-files*|--ignored*|--show-stash|--no-"       \
    "renames"
#define PHI__MODES_GIT_PLUMBING                                                                    \
    "-[0-9cdemoprstvzn]|--abbrev-ref|--verify|--show-toplevel|--show-prefix|--git-dir|"            \
    "--is-inside-work-tree|--short*|--tags|--always|--dirty|--long|--abbrev=*|--others|"           \
    "--exclude-standard|--modified|--deleted|--cached|--stage|--full-name|--name-only|--count|"    \
    "--all|--max-count=*|--is-ancestor|--numbered|--summary|--email|--contains|--quiet"

/* Of the tools and commands that look at the workspace, and change nothing. */
#define PHI__MODES_READING                                                                         \
    PHI__MODES_TOOL(ALLOW, "read_file|list_files|search", "./**", "it only reads"),                \
        PHI__MODES_PLAIN("pwd|true|false|:|whoami|id|uname|date|uptime|hostname"),                 \
        PHI__MODES_PLAIN("echo|seq|sleep|basename|dirname *"), PHI__MODES_PLAIN("uname -*"),       \
        PHI__MODES_PLAIN("command -v|-V *"), PHI__MODES_PLAIN("which|type *"),                     \
        PHI__MODES_PLAIN("date +*"), PHI__MODES_PLAIN("git --version|version"),                    \
        PHI__MODES_PLAIN("node|npm|python|python3|gcc|clang|make|cmake --version"),                \
        PHI__MODES_PLAIN("exit *"), PHI__MODES_KNOWN("test|[[] *", "-v -R"),                       \
        PHI__MODES_READS("ls|cat|head|tail|wc|nl|tac|stat|du|cmp|comm|cut|tr *", NULL),            \
        PHI__MODES_READS("rev|column|paste|fold|realpath|readlink|od|hexdump *", NULL),            \
        PHI__MODES_READS("md5sum|sha1sum|sha256sum|sha512sum|cksum *", NULL),                      \
        PHI__MODES_READS("diff *", "-l --paginate --fr* --to*"),                                   \
        PHI__MODES_READS("strings *", "@*"),                                                       \
        PHI__MODES_OPTIONS("file *", "-[bhiLkN0nr]|--brief|--mime*"),                              \
        PHI__MODES_BOTH("jq *", "*import* *include* *env* *ENV* *modulemeta* *get_search_list*",   \
                        "-[acCehjMnrRsSV]|--compact-output|--null-input|--raw-input|--slurp|"      \
                        "--raw-output|--join-output|--ascii-output|--sort-keys|--exit-status|"     \
                        "--arg|--argjson|--args|--jsonargs|--slurpfile|--rawfile|--indent|--tab|"  \
                        "--color-output|--monochrome-output|--stream|--seq|--unbuffered"),         \
        PHI__MODES_READS("grep|egrep|fgrep *", NULL), PHI__MODES_READS("uniq", NULL),              \
        PHI__MODES_READS("uniq -c|-d|-u|-i", NULL), PHI__MODES_READS("cd [!-]*", NULL),            \
        PHI__MODES_OPTIONS("rg *", PHI__MODES_GREP_OPTIONS "|-[pSUN]|-[gtTr]*|--files|--glob=*|"   \
                                                           "--type=*|--smart-case|--no-heading|"   \
                                                           "--multiline|--stats|--json"),          \
        PHI__MODES_OPTIONS("tree *", "-[0-9adfilpsuDghFQNrtcUvSCLPI]|--dirsfirst|--noreport|"      \
                                     "--prune|--gitignore|--du|--filelimit=*"),                    \
        PHI__MODES_OPTIONS("sort *", "-[bcCdfgihMmnrRsuVz]|-[kt]*|--reverse|--unique|"             \
                                     "--numeric-sort|--ignore-case|--key=*|--field-separator=*"),  \
        PHI__MODES_READS("find *", "-delete -fprint* -fls -files0*"),                              \
        PHI__MODES_OPTIONS("git status|log|diff|show|blame|shortlog *", PHI__MODES_GIT_OPTIONS),   \
        PHI__MODES_OPTIONS("git describe|rev-parse|ls-files|ls-tree|rev-list|merge-base *",        \
                           PHI__MODES_GIT_PLUMBING),                                               \
        PHI__MODES_OPTIONS("git cat-file *", "-[epst]"),                                           \
        PHI__MODES_READS("git branch|tag|remote|reflog", NULL),                                    \
        PHI__MODES_READS("git branch -a|-r|-v|-vv|--list|--show-current", NULL),                   \
        PHI__MODES_READS("git stash|worktree list", NULL),                                         \
        PHI__MODES_OPTIONS("git grep *", PHI__MODES_GREP_OPTIONS "|-p|-W|--cached|--name-only|"    \
                                                                 "--untracked|--heading|--break"), \
        PHI__MODES_READS("git config --get user.*|core.*|branch.*|init.*", NULL)

/* What nobody means, and what cannot be undone. */
#define PHI__MODES_DESTRUCTIVE                                                                     \
    PHI__MODES_DENY("rm *", "-r|-R|--r* " PHI__MODES_ROOTS, NULL, NULL,                            \
                    "it deletes the system or the home directory"),                                \
        PHI__MODES_DENY_PATH("rm *", "-r|-R|--r*",                                                 \
                             PHI__MODES_SYSTEM_PATHS "|" PHI__MODES_HOME_PATHS,                    \
                             "it deletes the system or the home directory"),                       \
        PHI__MODES_DENY_PATH("find *", "-delete",                                                  \
                             PHI__MODES_SYSTEM_PATHS "|" PHI__MODES_HOME_PATHS,                    \
                             "it deletes the system or the home directory"),                       \
        PHI__MODES_DENY_PATH(                                                                      \
            "rm|shred|unlink *", NULL,                                                             \
            "/[*][*]|~/[*][*]|/home/*/[*][*]|/home/[*][*]|/usr/[*][*]|/etc/[*][*]|/var/[*][*]|/"   \
            "bin/[*][*]|/sbin/[*][*]|/lib/[*][*]|/lib64/[*][*]|/boot/[*][*]|/root/[*][*]",         \
            "it deletes the system or the home directory"), /* by find */                          \
        PHI__MODES_DENY_PATH("chmod|chown|chgrp|setfacl|chattr *", "-R|--r*",                      \
                             PHI__MODES_SYSTEM_PATHS,                                              \
                             "it changes the modes or owners of the whole system"),                \
        PHI__MODES_DENY_PATH("chmod|setfacl|chattr *", "-R|--r*", "~|~/[*]|/home/*",               \
                             "it changes the modes of the whole home directory"),                  \
        PHI__MODES_DENY_PATH("tee|cp|mv|install|truncate|shred|wipefs|blkdiscard|sponge *", NULL,  \
                             PHI__MODES_DISKS, "it overwrites a disk"),                            \
        PHI__MODES_DENY("rm *", "/[*]|~/[*]|$HOME/[*]|--no-preserve-root", NULL, NULL,             \
                        "it deletes the system or the home directory"),                            \
        PHI__MODES_DENY("find *", "-delete " PHI__MODES_ROOTS, NULL, NULL,                         \
                        "it deletes the system or the home directory"),                            \
        PHI__MODES_DENY("chmod|chown|chgrp *", "-R|--recursive " PHI__MODES_ROOTS, NULL, NULL,     \
                        "it changes the modes or owners of the whole system"),                     \
        PHI__MODES_DENY_PATH("mkfs|mkfs.*|mkfs_*|mke2fs|mkswap|mkdosfs|mkntfs *", NULL,            \
                             "/dev/*|/dev/disk/**|/dev/mapper/*", "it overwrites a disk"),         \
        PHI__MODES_DENY("dd *", "of=/dev/*", NULL, NULL, "it overwrites a disk"),                  \
        PHI__MODES_DENY("shred *", "/dev/*", NULL, NULL, "it overwrites a disk"),                  \
        PHI__MODES_TOOL(DENY, "write_file|edit_file", PHI__MODES_DISKS, "it overwrites a disk"),   \
        PHI__MODES_DENY(":(){:[|]:&};:", NULL, NULL, NULL, "it is a fork bomb"),                   \
        PHI__MODES_DENY(PHI__MODES_READERS " *", NULL, "-c*|-[!-]*c*", PHI__MODES_DOWNLOADS,       \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY(PHI__MODES_READERS "|eval *", PHI__MODES_SUBSTITUTED, NULL,                \
                        PHI__MODES_DOWNLOADS, "it runs what it downloads"),                        \
        PHI__MODES_DENY(PHI__MODES_LANGUAGES " *", NULL,                                           \
                        "[!-]*|-[cemnprE]*|-?[cenp]*|--eval*|--print*", PHI__MODES_DOWNLOADS,      \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY(PHI__MODES_LANGUAGES " - *", NULL, NULL, PHI__MODES_DOWNLOADS,             \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY(PHI__MODES_LANGUAGES " *", "-c|-e|-r|--eval $(*|`*|<(*", NULL,             \
                        PHI__MODES_DOWNLOADS, "it runs what it downloads"),                        \
        PHI__MODES_TOOL(DENY, NULL,                                                                \
                        "**/.ssh/id_*|**/.gnupg/**|**/.aws/credentials|~/.ssh/id_*|~/.gnupg/**|"   \
                        "~/.aws/credentials",                                                      \
                        "private keys are not for a model")

/* What may be one of these: for the mode that allows all else. */
#define PHI__MODES_DOUBTFUL                                                                        \
    PHI__MODES_TOOL(ASK, NULL,                                                                     \
                    PHI__MODES_KEY_DIRECTORIES "|~/.config/gcloud/**|~/.config/gh/**|"             \
                                               "~/.docker/config.json|~/.netrc|/proc/*/environ",   \
                    "private keys are not for a model"),                                           \
        PHI__MODES_ASK("gpg|gpg2 *", "--export-sec*", NULL, "private keys are not for a model"),   \
        PHI__MODES_TOOL(ASK, NULL, PHI__MODES_DISKS, "it may overwrite a disk"),                   \
        PHI__MODES_ASK("dd *", "of=*", PHI__MODES_DISKS, "it may overwrite a disk"),               \
        PHI__MODES_TOOL(ASK, NULL, "/dev/tcp/**|/dev/udp/**", "it may run what it downloads"),     \
        PHI__MODES_ASK("rm|find *", "-r|-R|--r*|-delete",                                          \
                       "/etc/*|/var/*|~/Documents|~/Desktop|~/Pictures|~/Music|~/Videos|"          \
                       "~/Downloads|~/Library|~/.config|~/.local|~/.[*]",                          \
                       "it deletes a directory of the system or of a person"),                     \
        PHI__MODES_ASK("rm|shred|unlink|truncate|mv|tee|sponge|dd|ln|install *", NULL,             \
                       "/etc/passwd|/etc/shadow|/etc/sudoers|/etc/fstab|/bin/*|/sbin/*|/boot/**",  \
                       "it breaks the system"),                                                    \
        PHI__MODES_TOOL(ASK, "write_file|edit_file",                                               \
                        "/etc/passwd|/etc/shadow|/etc/sudoers|/etc/fstab|/boot/**",                \
                        "it breaks the system"),                                                   \
        PHI__MODES_ASK("rsync *", "--del*", "/|/etc|/usr|/var|/home|/bin|/lib|/home/*|/Users/*|~", \
                       "it deletes the system"),                                                   \
        PHI__MODES_ASK_DOWNLOAD(PHI__MODES_READERS " *", "-c", NULL),                              \
        PHI__MODES_ASK_DOWNLOAD(PHI__MODES_LANGUAGES "|awk|gawk|make|gmake|gdb *",                 \
                                "-|<(*|/dev/stdin", NULL),                                         \
        PHI__MODES_ASK_DOWNLOAD(PHI__MODES_LANGUAGES " *",                                         \
                                "-X|-W|-I|-C|-r|-d|-l|--require|--import|--loader",                \
                                "-[cemnpE]*|-?[cenp]*|--eval*|--print*"),                          \
        PHI__MODES_ASK_DOWNLOAD("sudo|doas *", "-s|-i|--shell|--login|su", NULL),                  \
        PHI__MODES_ASK_DOWNLOAD("at|batch|crontab|su *", NULL, NULL)

/* Files that hold passwords and keys, by the manuals of the programs that keep them. */
#define PHI__MODES_SECRET_FILES                                                                    \
    "**/*.env|**/.env.*|**/.env[-_~]*|**/.envrc|**/*.pem|**/*.key|**/*.p12|**/*.pfx|**/*.jks|"     \
    "**/*.keystore|**/*.kdbx|**/*.ppk|**/*.tfstate|**/*.tfstate.backup|**/*.tfvars|**/id_rsa|"     \
    "**/id_ed25519|**/*[_-]rsa|**/*[_-]ed25519|**/id_ecdsa|**/id_dsa|**/[._]netrc|**/.npmrc|"      \
    "**/.yarnrc*|**/.pypirc|**/.pgpass|**/.my.cnf|**/.htpasswd|**/.git-credentials|"               \
    "**/.vault-token|**/.*_history|**/.dockercfg|**/.docker/config.json|**/.s3cfg|**/.boto|"       \
    "**/secrets.y*ml|**/secrets.json|**/secrets.toml|**/.secrets|**/credentials|"                  \
    "**/credentials.json|**/credentials.y*ml|**/credentials.db|**/service[-_]account*.json|"       \
    "**/kubeconfig|**/.config/gh/**|**/.config/gcloud/**|**/.config/hub|**/.terraform.d/**|"       \
    "**/.cargo/credentials*|**/.cargo/credentials.toml|**/.gem/credentials|"                       \
    "**/.m2/settings*.xml|**/.password-store/**|"                                                  \
    "**/.git/config|**/.git/config.*|**/.git/logs/**|**/.git/logs/HEAD|**/.git/**/config|"         \
    "**/.git/modules/**|**/.git/worktrees/**|**/.config/gh/hosts.yml|/proc/*/environ|"             \
    "**/*.p8|**/*.ovpn|**/*.gpg|**/*.age|**/*.rdp|**/*.secret|**/.authinfo|**/.msmtprc|"           \
    "**/rclone.conf|**/.Renviron|**/.histfile|**/.vault[-_]pass*|**/vault[-_]pass|"                \
    "**/vault[-_]pass.txt|**/auth.json|**/token.json|**/.token|**/client[-_]secret*.json|"         \
    "**/*adminsdk*.json|**/wp-config.php|**/local.settings.json|**/passwords.txt|"                 \
    "**/passwords.csv|**/secret.txt|**/sftp-config.json|**/.terraformrc|**/.oci/**|**/.fly/**|"    \
    "**/.gradle/gradle.properties|**/logins.json|**/.local/share/keyrings/"                        \
    "**|" PHI__MODES_KEY_DIRECTORIES

#define PHI__MODES_SECRETS                                                                         \
    PHI__MODES_TOOL(ASK, NULL, PHI__MODES_SECRET_FILES, "it may hold secrets"),                    \
        PHI__MODES_ASK("git *", "*%G*|*%[!a-zA-Z]G*", NULL, "git runs gpg"),                       \
        PHI__MODES_TOOL(ASK, "write_file|edit_file", "**/.git/**", "git runs what stands there"),  \
        PHI__MODES_COMMAND(ASK, "cp|mv|ln|tee|touch|mkdir|install|cd|pushd *", NULL, NULL, NULL,   \
                           "**/.git/**", "git runs what stands there"),                            \
        PHI__MODES_ASK("cp *", "*/.|*/./|*/..|*/../", NULL, "it may hold a directory .git"),       \
        PHI__MODES_ASK("wc|du|sort *", "--files0-from*", NULL,                                     \
                       "it reads files that a file names"),                                        \
        PHI__MODES_ASK("wc|du|sort *", "--files0-from", NULL, "it reads files that a file names"), \
        PHI__MODES_ASK("md5sum|sha1sum|sha256sum|sha512sum|cksum *", "-c|--check", NULL,           \
                       "it reads files that a file names")

static const phi_permission_rule phi__modes_default[] = {PHI__MODES_READING, PHI__MODES_DESTRUCTIVE,
                                                         PHI__MODES_SECRETS};
static const phi_permission_rule phi__modes_edits[] = {
    PHI__MODES_READING,
    PHI__MODES_DESTRUCTIVE,
    PHI__MODES_SECRETS,
    PHI__MODES_TOOL(ALLOW, "write_file|edit_file", "./**", "edits are accepted"),
    PHI__MODES_EDITS("mkdir *", "-[pv]|--parents|--verbose"),
    PHI__MODES_EDITS("touch *", "-[acm]"),
    PHI__MODES_EDITS("cp *", "-[adfiLnPpRruv]|--recursive|--archive|--verbose|--force|"
                             "--no-clobber|--update|--preserve|--sparse=never"),
    PHI__MODES_EDITS("mv *", "-[finuv]|--force|--no-clobber|--verbose|--update")};
static const phi_permission_rule phi__modes_all[] = {
    PHI__MODES_DESTRUCTIVE, PHI__MODES_DOUBTFUL,
    PHI__MODES_TOOL(ALLOW, NULL, NULL, "all is allowed")};

static const phi_permission_rules phi__modes[] = {
    {phi__modes_default, PHI__COUNT(phi__modes_default), PHI_PERMISSION_ASK},
    {phi__modes_default, PHI__COUNT(phi__modes_default), PHI_PERMISSION_DENY},
    {phi__modes_edits, PHI__COUNT(phi__modes_edits), PHI_PERMISSION_ASK},
    {phi__modes_all, PHI__COUNT(phi__modes_all), PHI_PERMISSION_ASK},
};

/* ---- public ---- */

PHI_API const phi_permission_rules *phi_permissions_mode(phi_permission_mode mode) {
    return &phi__modes[(size_t)mode < PHI__COUNT(phi__modes) ? (size_t)mode : 0];
}
