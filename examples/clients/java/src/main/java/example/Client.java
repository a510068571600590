package example;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.toolwire.v1.ToolServiceGrpc;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import java.io.File;
import java.io.IOException;
import java.net.URI;

/** The tool service that the environment names: TOOLWIRE_SERVER, and TOOLWIRE_CA and TOOLWIRE_TOKEN if it needs them. */
final class Client implements AutoCloseable {
    private final ManagedChannel channel;

    Client() throws IOException {
        var server = URI.create(System.getenv().getOrDefault("TOOLWIRE_SERVER", "http://127.0.0.1:50051"));
        channel = Grpc.newChannelBuilder(server.getAuthority(), credentials(server.getScheme())).build();
    }

    /** The service, for one call of at most so long: a deadline is set on a stub. */
    ToolServiceGrpc.ToolServiceBlockingStub within(long milliseconds) {
        var metadata = new Metadata();
        var token = System.getenv("TOOLWIRE_TOKEN");
        if (token != null) {
            metadata.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
        }
        return ToolServiceGrpc.newBlockingStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                .withDeadlineAfter(milliseconds, MILLISECONDS);
    }

    private static ChannelCredentials credentials(String scheme) throws IOException {
        var ca = System.getenv("TOOLWIRE_CA");
        if (scheme.equals("http")) {
            return InsecureChannelCredentials.create();
        }
        var builder = TlsChannelCredentials.newBuilder();
        return (ca == null ? builder : builder.trustManager(new File(ca))).build();
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
