package example;

import com.google.gson.JsonParser;
import dev.toolwire.v1.CallToolRequest;
import dev.toolwire.v1.ResultFormat;
import io.grpc.StatusRuntimeException;
import java.util.UUID;

/** Repeats a write whose answer was lost. The same request_id says that it is the same write: it is done once. */
final class Retry {
    private static final long[] LIMITS = {500, 5000, 5000};

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
                System.out.println("the repeat has the same answer");
            }
        }
    }

    private static String write(Client client, CallToolRequest request) {
        for (int attempt = 1; attempt <= LIMITS.length; attempt++) {
            try {
                return client.within(LIMITS[attempt - 1]).callTool(request).getResult().getDataJson();
            } catch (StatusRuntimeException error) {
                switch (error.getStatus().getCode()) {
                    case UNAVAILABLE, DEADLINE_EXCEEDED -> System.out.printf("attempt %d: no answer%n", attempt);
                    default -> throw error;
                }
            }
        }
        throw new IllegalStateException("no answer at all");
    }
}
