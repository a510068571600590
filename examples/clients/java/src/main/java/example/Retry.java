package example;

import com.google.gson.JsonParser;
import dev.toolwire.v1.CallToolRequest;
import dev.toolwire.v1.ResultFormat;
import io.grpc.StatusRuntimeException;
import java.util.UUID;

/** Repeats a write until it has an answer. The same request_id says that it is the same write: it is done once. */
final class Retry {
    /** Milliseconds to wait before each attempt, unless the server asks for more. */
    private static final long[] PAUSES = {0, 1000, 2000, 4000, 8000};

    public static void main(String[] args) throws Exception {
        try (var client = new Client()) {
            var request = CallToolRequest.newBuilder()
                    .setTool("debug_write")
                    .setArgumentsJson("{\"value\": \"x\", \"duration\": \"1s\"}")
                    .setRequestId(UUID.randomUUID().toString())
                    .setResultFormat(ResultFormat.RESULT_FORMAT_JSON)
                    .build();
            var first = write(client, request);
            var value = JsonParser.parseString(first).getAsJsonObject().get("value").getAsString();
            System.out.printf("%s is written%n", value);
            if (write(client, request).equals(first)) {
                System.out.println("the repeat has the same data");
            }
        }
    }

    private static String write(Client client, CallToolRequest request) throws InterruptedException {
        var reason = "";
        long retryAfter = 0;
        for (int attempt = 1; attempt <= PAUSES.length; attempt++) {
            Thread.sleep(Math.max(PAUSES[attempt - 1], retryAfter));
            reason = "no answer";
            retryAfter = 0;
            try {
                // The first deadline is shorter than the write, to show what follows.
                var result = client.within(attempt == 1 ? 500 : 5000).callTool(request).getResult();
                if (!result.hasError()) {
                    return result.getDataJson();
                }
                var error = result.getError();
                if (!error.getRetryable()) {
                    throw new IllegalStateException(error.getMessage());
                }
                reason = error.getMessage();
                retryAfter = error.getRetryAfter().getSeconds() * 1000;
            } catch (StatusRuntimeException error) {
                switch (error.getStatus().getCode()) {
                    case UNAVAILABLE, DEADLINE_EXCEEDED -> {}
                    default -> throw error;
                }
            }
            System.out.printf("attempt %d: %s%n", attempt, reason);
        }
        throw new IllegalStateException("given up: " + reason);
    }
}
