package example;

import dev.toolwire.v1.InvokeToolRequest;
import dev.toolwire.v1.InvokeToolResponse;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Iterator;

/** Follows the events of a call, lets a deadline pass, and cancels a call. */
final class Stream {
    public static void main(String[] args) throws Exception {
        try (var client = new Client()) {
            invoke(client, "debug_stream", "{\"count\": 2}", 10_000).forEachRemaining(response -> {
                var event = response.getEvent();
                System.out.printf("event %d: %s%n", event.getSequence(), event.getEventCase().name().toLowerCase());
            });

            try {
                invoke(client, "debug_sleep", "{\"duration\": \"60s\"}", 500).forEachRemaining(response -> {});
            } catch (StatusRuntimeException error) {
                expect(Status.Code.DEADLINE_EXCEEDED, error);
                System.out.println("the deadline passed");
            }

            // A call made within a context ends with it.
            try (var context = Context.current().withCancellation()) {
                context.run(() -> {
                    var arguments = "{\"duration\": \"60s\", \"progress_interval\": \"0.1s\"}";
                    invoke(client, "debug_sleep", arguments, 10_000).forEachRemaining(response -> {
                        if (response.getEvent().hasProgress()) {
                            context.cancel(null);
                        }
                    });
                });
            } catch (StatusRuntimeException error) {
                expect(Status.Code.CANCELLED, error);
                System.out.println("the call was cancelled");
            }
        }
    }

    private static Iterator<InvokeToolResponse> invoke(Client client, String tool, String argumentsJson, long limit) {
        var request = InvokeToolRequest.newBuilder().setTool(tool).setArgumentsJson(argumentsJson).build();
        return client.within(limit).invokeTool(request);
    }

    private static void expect(Status.Code code, StatusRuntimeException error) {
        if (error.getStatus().getCode() != code) {
            throw error;
        }
    }
}
