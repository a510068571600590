package example;

import com.google.rpc.ErrorInfo;
import dev.toolwire.v1.CallToolRequest;
import dev.toolwire.v1.ToolError;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;

/** Reads the two kinds of failure: a tool that failed, in the result, and a call that was refused, in the status. */
final class Errors {
    public static void main(String[] args) throws Exception {
        try (var client = new Client()) {
            for (var violation : failure(client, "get_performance", "{\"timefram\": \"YTD\"}").getFieldViolationsList()) {
                System.out.printf("%s breaks %s: %s%n", violation.getPointer(), violation.getRule(),
                        violation.getDescription());
            }

            var error = failure(client, "debug_fail", "{\"code\": \"RATE_LIMITED\", \"retry_after\": \"2s\"}");
            if (error.getRetryable()) {
                System.out.printf("%s: again in %d s%n", error.getMessage(), error.getRetryAfter().getSeconds());
            }

            try {
                failure(client, "get_quote", "{}");
            } catch (StatusRuntimeException refused) {
                var status = StatusProto.fromThrowable(refused);
                for (var detail : status.getDetailsList()) {
                    if (detail.is(ErrorInfo.class)) {
                        var info = detail.unpack(ErrorInfo.class);
                        System.out.printf("refused, %s: %s%n", info.getReason(), status.getMessage());
                    }
                }
            }
        }
    }

    private static ToolError failure(Client client, String tool, String argumentsJson) {
        var request = CallToolRequest.newBuilder().setTool(tool).setArgumentsJson(argumentsJson).build();
        return client.within(10_000).callTool(request).getResult().getError();
    }
}
