/* A chat-completions endpoint that is never the bottleneck of a benchmark.
 *
 *   cc -O2 -o vendor vendor.c && ./vendor [PORT]      prints the port it listens on (a free one for 0)
 *
 * One thread, loopback only. The URL says how it behaves, so one process serves every cell:
 *
 *   http://127.0.0.1:PORT/delay=20,chunks=100,gap=0/v1
 *
 * delay   milliseconds until the first byte          chunks  pieces of a streamed answer
 * gap     milliseconds between pieces; with 0 the whole stream is one write
 *
 * The request says what is answered: `reply:valid`, `reply:invalid`, `reply:text` or `reply:pair` in a message.
 * Any GET is answered with a list of one model, and with the number of chat completions that were asked for.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_CONNECTIONS 4096
#define MOST_SCRIPTS 64
#define NEVER INFINITY
#define HEAD "{\"id\":\"chatcmpl-bench\",\"object\":\"%s\",\"created\":1760000000,\"model\":\"bench-model\","
#define USAGE "\"usage\":{\"prompt_tokens\":800,\"completion_tokens\":100,\"total_tokens\":900}"

enum kind { VALID, INVALID, TEXT, PAIR, KINDS };

static const char *const MARKS[KINDS] = {"reply:valid", "reply:invalid", "reply:text", "reply:pair"};

/* Written inside a JSON string, hence the escapes; long enough to be cut into a hundred pieces.
 * The schema of bench/data.py wants an integer `limit`. */
#define NOTE \
    "Deliver to the back door, ring twice, ask for the manager, and leave the parcels with nobody else. " \
    "If the gate is closed, call the number on the label and wait; the guard lets vans in on the hour."
#define ORDER(limit) \
    "{\\\"customer\\\":\\\"Ada Lovelace and Sons\\\",\\\"limit\\\":" limit ",\\\"status\\\":\\\"open\\\"," \
    "\\\"filter\\\":{\\\"country\\\":\\\"gb\\\",\\\"labels\\\":[\\\"urgent\\\",\\\"export\\\"]},\\\"note\\\":\\\"" NOTE "\\\"}"
static const char *const ARGUMENTS[KINDS] = {ORDER("25"), ORDER("\\\"many\\\""), NULL, ORDER("3")};
static const char SENTENCE[] = "The order left the warehouse on Tuesday and should arrive within three working days. ";

struct bytes {
    char *data;
    size_t length, capacity;
};

/* An answer as it goes over the wire, cut into the pieces that are written one by one. */
struct script {
    enum kind kind;
    int chunks; /* 0: not streamed */
    struct bytes bytes;
    size_t *ends;
    int pieces;
};

struct connection {
    int fd;
    struct bytes input, output;
    size_t sent;
    const struct script *script; /* the answer under way, or NULL */
    int piece;
    double due, gap;
};

static struct connection *connections[MOST_CONNECTIONS];
static int connected;
static unsigned long asked; /* chat completions */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* ---- growing byte strings ---- */

static void reserve(struct bytes *bytes, size_t more) {
    if (bytes->length + more <= bytes->capacity) return;
    bytes->capacity = (bytes->length + more) * 2;
    bytes->data = realloc(bytes->data, bytes->capacity);
    if (!bytes->data) abort();
}

static void append(struct bytes *bytes, const char *data, size_t length) {
    reserve(bytes, length);
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

__attribute__((format(printf, 2, 3))) static void print(struct bytes *bytes, const char *format, ...) {
    va_list values;
    reserve(bytes, 8192);
    va_start(values, format);
    bytes->length += vsnprintf(bytes->data + bytes->length, 8192, format, values);
    va_end(values);
}

static void drop(struct bytes *bytes, size_t length) {
    memmove(bytes->data, bytes->data + length, bytes->length - length);
    bytes->length -= length;
}

/* ---- answers, written once and kept ---- */

static void end_piece(struct script *script) {
    script->ends = realloc(script->ends, (script->pieces + 1) * sizeof *script->ends);
    if (!script->ends) abort();
    script->ends[script->pieces++] = script->bytes.length;
}

static void print_response(struct script *script, const struct bytes *body) {
    print(&script->bytes, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n", body->length);
    append(&script->bytes, body->data, body->length);
    end_piece(script);
}

static void print_call(struct bytes *body, enum kind kind, int number) {
    print(body, "%s{\"id\":\"call_%04d\",\"type\":\"function\",\"function\":{\"name\":\"search_orders\",\"arguments\":\"%s\"}}",
          number ? "," : "", number, ARGUMENTS[kind]);
}

static void write_plain(struct script *script) {
    struct bytes body = {0};
    print(&body, HEAD "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",", "chat.completion");
    if (script->kind == TEXT) {
        print(&body, "\"content\":\"%s%s%s\"},\"finish_reason\":\"stop\"", SENTENCE, SENTENCE, SENTENCE);
    } else {
        print(&body, "\"content\":null,\"tool_calls\":[");
        print_call(&body, script->kind, 0);
        if (script->kind == PAIR) print_call(&body, script->kind, 1);
        print(&body, "]},\"finish_reason\":\"tool_calls\"");
    }
    print(&body, "}]," USAGE "}");
    print_response(script, &body);
    free(body.data);
}

/* One server-sent event inside one HTTP chunk. */
static void print_event(struct script *script, const char *data) {
    print(&script->bytes, "%zx\r\ndata: %s\n\n\r\n", strlen(data) + 8, data);
    end_piece(script);
}

static void print_delta(struct script *script, const char *delta, const char *finish) {
    char data[2048];
    snprintf(data, sizeof data, HEAD "\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}",
             "chat.completion.chunk", delta, finish);
    print_event(script, data);
}

static void stream_text(struct script *script) {
    char delta[256];
    for (int chunk = 0; chunk < script->chunks; chunk++) {
        int start = chunk * 6 % (int)(sizeof SENTENCE - 7);
        snprintf(delta, sizeof delta, "\"content\":\"%.6s\"", SENTENCE + start);
        print_delta(script, delta, "null");
    }
}

/* The arguments in `chunks` pieces, none cut between a backslash and what it escapes. */
static void stream_call(struct script *script, int number, int chunks) {
    const char *arguments = ARGUMENTS[script->kind];
    size_t total = strlen(arguments), start = 0, end = 0;
    char delta[1024];
    snprintf(delta, sizeof delta,
             "\"tool_calls\":[{\"index\":%d,\"id\":\"call_%04d\",\"type\":\"function\","
             "\"function\":{\"name\":\"search_orders\",\"arguments\":\"\"}}]", number, number);
    print_delta(script, delta, "null");
    for (int chunk = 0; chunk < chunks; chunk++, start = end) {
        while (end < total * (chunk + 1) / chunks) end += arguments[end] == '\\' ? 2 : 1;
        snprintf(delta, sizeof delta, "\"tool_calls\":[{\"index\":%d,\"function\":{\"arguments\":\"%.*s\"}}]",
                 number, (int)(end - start), arguments + start);
        print_delta(script, delta, "null");
    }
}

static void write_stream(struct script *script) {
    print(&script->bytes, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    print_delta(script, "\"role\":\"assistant\",\"content\":\"\"", "null");
    if (script->kind == TEXT) stream_text(script);
    else if (script->kind == PAIR) stream_call(script, 0, script->chunks / 2), stream_call(script, 1, script->chunks / 2);
    else stream_call(script, 0, script->chunks);
    print_delta(script, "", script->kind == TEXT ? "\"stop\"" : "\"tool_calls\"");
    char usage[512];
    snprintf(usage, sizeof usage, HEAD "\"choices\":[]," USAGE "}", "chat.completion.chunk");
    print_event(script, usage);
    print_event(script, "[DONE]");
    print(&script->bytes, "0\r\n\r\n");
    script->ends[script->pieces - 1] = script->bytes.length;
}

static const struct script *answer(enum kind kind, int chunks) {
    static struct script scripts[MOST_SCRIPTS];
    static int known;
    for (int i = 0; i < known; i++)
        if (scripts[i].kind == kind && scripts[i].chunks == chunks) return &scripts[i];
    if (known == MOST_SCRIPTS) return &scripts[0];
    struct script *script = &scripts[known++];
    script->kind = kind;
    script->chunks = chunks;
    if (chunks) write_stream(script);
    else write_plain(script);
    return script;
}

static const struct script *listing(void) {
    static struct script script;
    struct bytes body = {0};
    script.bytes.length = script.pieces = 0;
    print(&body, "{\"object\":\"list\",\"asked\":%lu,\"data\":[{\"id\":\"bench-model\",\"object\":\"model\"}]}", asked);
    print_response(&script, &body);
    free(body.data);
    return &script;
}

/* ---- requests ---- */

static double setting(const char *line, const char *name, double otherwise) {
    const char *found = strstr(line, name);
    return found ? strtod(found + strlen(name), NULL) : otherwise;
}

static enum kind wanted(const char *body, size_t length) {
    const char *mark = memmem(body, length, "reply:", 6);
    for (int kind = 0; mark && kind < KINDS; kind++)
        if (!strncmp(mark, MARKS[kind], strlen(MARKS[kind]))) return kind;
    return VALID;
}

static int streams(const char *body, size_t length) {
    const char *field = memmem(body, length, "\"stream\":", 9);
    if (!field) return 0;
    for (field += 9; *field == ' ';) field++;
    return *field == 't';
}

static void take_request(struct connection *connection, size_t head, size_t body) {
    char *data = connection->input.data;
    data[head - 2] = 0; /* settings are looked for in the request line and headers only */
    double delay = setting(data, "delay=", 0);
    connection->gap = setting(data, "gap=", 0);
    int chunks = (int)setting(data, "chunks=", 60);
    asked += data[0] != 'G';
    if (data[0] == 'G') connection->script = listing();
    else connection->script = answer(wanted(data + head, body), streams(data + head, body) ? chunks : 0);
    connection->piece = 0;
    connection->due = now() + delay;
    drop(&connection->input, head + body);
}

/* Starts on the next request if it is there whole and the one before is answered. */
static void next_request(struct connection *connection) {
    struct bytes *input = &connection->input;
    if (connection->script || !input->length) return;
    char *end = memmem(input->data, input->length, "\r\n\r\n", 4);
    if (!end) return;
    size_t head = end - input->data + 4;
    char *length = strcasestr(input->data, "\r\ncontent-length:");
    size_t body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
    if (input->length >= head + body) take_request(connection, head, body);
}

/* ---- sockets ---- */

static int flush(struct connection *connection) {
    struct bytes *output = &connection->output;
    while (connection->sent < output->length) {
        ssize_t count = send(connection->fd, output->data + connection->sent, output->length - connection->sent, 0);
        if (count < 0) return errno == EAGAIN ? 0 : -1;
        connection->sent += count;
    }
    output->length = connection->sent = 0;
    return 0;
}

/* Writes the pieces that are due; an answered connection turns to its next request. */
static int answer_due(struct connection *connection, double time) {
    while (connection->script && connection->due <= time) {
        const struct script *script = connection->script;
        size_t start = connection->piece ? script->ends[connection->piece - 1] : 0;
        int last = connection->gap > 0 ? connection->piece : script->pieces - 1;
        append(&connection->output, script->bytes.data + start, script->ends[last] - start);
        connection->piece = last + 1;
        connection->due += connection->gap;
        if (connection->piece == script->pieces) {
            connection->script = NULL;
            connection->due = NEVER;
            next_request(connection);
        }
    }
    return flush(connection);
}

static int receive(struct connection *connection) {
    struct bytes *input = &connection->input;
    for (;;) {
        reserve(input, 16385);
        ssize_t count = recv(connection->fd, input->data + input->length, 16384, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN)) return -1;
        if (count < 0) break;
        input->length += count;
        input->data[input->length] = 0;
        if (count < 16384) break;
    }
    next_request(connection);
    return 0;
}

static void welcome(int listener) {
    int fd, on = 1;
    while (connected < MOST_CONNECTIONS && (fd = accept(listener, NULL, NULL)) >= 0) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection) abort();
        connection->fd = fd;
        connection->due = NEVER;
        connections[connected++] = connection;
    }
}

static void dismiss(int index) {
    struct connection *connection = connections[index];
    close(connection->fd);
    free(connection->input.data);
    free(connection->output.data);
    free(connection);
    connections[index] = connections[--connected];
}

static int wait_until(struct pollfd *watched, int count, double due) {
    double left = due == NEVER ? -1 : fmax(0, due - now());
#ifdef __linux__
    struct timespec time = {.tv_sec = (time_t)(left / 1e3), .tv_nsec = (long)(fmod(fmax(left, 0), 1e3) * 1e6)};
    return ppoll(watched, count, left < 0 ? NULL : &time, NULL);
#else
    return poll(watched, count, left < 0 ? -1 : (int)left); /* the last millisecond is waited out by looping */
#endif
}

static void serve(int listener) {
    static struct pollfd watched[MOST_CONNECTIONS + 1];
    for (;;) {
        double due = NEVER, time = now();
        for (int i = connected - 1; i >= 0; i--)
            if (answer_due(connections[i], time) < 0) dismiss(i);
        for (int i = 0; i < connected; i++) {
            short events = POLLIN | (connections[i]->output.length ? POLLOUT : 0);
            watched[i + 1] = (struct pollfd){.fd = connections[i]->fd, .events = events};
            due = fmin(due, connections[i]->due);
        }
        watched[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        if (wait_until(watched, connected + 1, due) <= 0) continue;
        for (int i = connected - 1; i >= 0; i--)
            if (watched[i + 1].revents & ~POLLOUT && receive(connections[i]) < 0) dismiss(i);
        if (watched[0].revents) welcome(listener);
    }
}

int main(int count, char **words) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    signal(SIGPIPE, SIG_IGN);
    address.sin_port = htons(count > 1 ? atoi(words[1]) : 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1024)) return perror("vendor"), 1;
    fcntl(listener, F_SETFL, O_NONBLOCK);
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    serve(listener);
}
