package example;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.toolwire.v1.CallToolRequest;
import dev.toolwire.v1.ListToolsRequest;
import dev.toolwire.v1.ResultFormat;
import dev.toolwire.v1.ToolView;

/** Lists tools, then calls one: arguments and result as JSON text. */
final class Call {
    public static void main(String[] args) throws Exception {
        try (var client = new Client()) {
            var filter = ListToolsRequest.newBuilder().addTags("positions").setView(ToolView.TOOL_VIEW_BASIC).build();
            client.within(10_000).listTools(filter).forEachRemaining(response -> {
                var tool = response.getTool();
                System.out.printf("tool %s: %s%n", tool.getName(), tool.getTitle());
            });

            var arguments = new JsonObject();
            arguments.addProperty("symbol", "AAPL");
            var request = CallToolRequest.newBuilder()
                    .setTool("get_quotes")
                    .setArgumentsJson(arguments.toString())
                    .setResultFormat(ResultFormat.RESULT_FORMAT_JSON)
                    .build();
            var result = client.within(10_000).callTool(request).getResult();
            if (result.hasError()) {
                throw new IllegalStateException(result.getError().getMessage());
            }
            var data = JsonParser.parseString(result.getDataJson()).getAsJsonObject();
            var quote = data.getAsJsonArray("quotes").get(0).getAsJsonObject();
            System.out.printf("%s costs %s, says %s%n", quote.get("symbol").getAsString(), quote.get("price"),
                    result.getProvenance().getSourceIds(0));
        }
    }
}
