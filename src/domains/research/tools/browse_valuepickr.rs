//! `browse_valuepickr`: active discussions of the forum.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{
    naming::Naming, one_of, outside::Outside, provenance, required, time, truncate_list,
    watchlist::unavailable,
};
use crate::{
    proto::v1::{BrowseValuepickrOutput, BrowseValuepickrRequest, ForumTopic},
    sources::{
        universe::Universe,
        valuepickr::{Order, PROFILE, Topic, ValuePickr},
        watchlist::UserWatchlists,
    },
    store::watchlist::WatchedStock,
};
use toolwire_base::offload;
use toolwire_contract::{ToolError, arguments::Arguments};
use toolwire_db::StoreError;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

/// Maximum number of watched stocks searched for in one call: each takes a request.
const MAX_WATCHED: usize = 10;

/// Warnings for an empty watch-list.
const ONLY_SCREENED: &str = "The watch-list is empty: these are discussions of stocks of the user's screens.";
const EMPTY: &str = "The watch-list is empty.";

/// Advice for models on them.
const ADD: &str = "Add stocks with add_to_watchlist, or browse `latest`.";

#[derive(Clone, Copy, Debug)]
pub struct BrowseValuepickr;

#[derive(Clone, Copy, Debug, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
enum Category {
    Latest,
    Top,
    Watchlist,
}

/// Topics, and what a reader should know of them.
type TopicList = (Vec<Topic>, Vec<String>);

impl Tool for BrowseValuepickr {
    const NAME: &'static str = "browse_valuepickr";
    type Input = BrowseValuepickrRequest;
    type Output = BrowseValuepickrOutput;

    fn services() -> Required {
        Required::none().of::<ValuePickr>().of::<Universe>().of::<UserWatchlists>()
    }

    /// The watch-list, where it is what is browsed.
    fn state<'a>(&'a self, arguments: &Arguments, context: &'a ToolContext) -> Option<BoxFuture<'a, String>> {
        let category = arguments.get("category").and_then(Value::as_str).map(str::parse);
        matches!(category, Some(Ok(Category::Watchlist))).then(|| Box::pin(list_as_text(context)) as _)
    }

    async fn execute(
        &self,
        input: BrowseValuepickrRequest,
        context: &ToolContext,
    ) -> Result<Reply<BrowseValuepickrOutput>, Unfinished> {
        let word = required("category", input.category.as_deref())?;
        let category = one_of("category", word, word.parse().ok())?;
        let forum = context.services.get::<ValuePickr>();
        let (topics, warnings) = match category {
            Category::Latest => (forum.latest(context).await?, Vec::new()),
            Category::Top => (forum.top(context).await?, Vec::new()),
            Category::Watchlist => browse_watched(&forum, context).await?,
        };
        let bytes = topics.iter().map(|topic| topic.title.len()).sum();
        let read = move || {
            let mut outside = Outside::default();
            (outside.drop_by_title(topics, |topic| &topic.title), outside)
        };
        let (mut topics, outside) = offload::if_large(bytes, read).await;
        let mut provenance = provenance(PROFILE.name, forum.now());
        let is_empty = |warning: &String| [ONLY_SCREENED, EMPTY].contains(&warning.as_str());
        provenance.advice.extend(warnings.iter().any(is_empty).then(|| ADD.to_owned()));
        provenance.warnings = warnings;
        truncate_list(&mut topics, Some(input.limit.unwrap_or(10)), "topics", &mut provenance);
        let topics = topics.into_iter().map(topic_message).collect();
        provenance.warnings.extend(outside.warnings());
        Ok(Reply { data: BrowseValuepickrOutput { topics }, provenance })
    }
}

/// The discussions of the stocks that the user watches, latest activity first.
async fn browse_watched(forum: &ValuePickr, context: &ToolContext) -> Result<TopicList, Unfinished> {
    let universe = context.services.get::<Universe>();
    let (mut stocks, what, mut warnings) = to_search(context).await?;
    let all = stocks.len();
    stocks.truncate(MAX_WATCHED);
    let mut topics: Vec<Topic> = Vec::new();
    let mut searched = 0;
    for stock in &stocks {
        context.events.progress(None, format!("Searching ValuePickr for {}…", stock.symbol));
        let naming = naming(stock, &universe);
        match forum.search(&naming.name, Order::Latest, context).await {
            Ok(found) => topics.extend(found.into_iter().filter(|it| naming.in_title(&it.title).is_some())),
            Err(failure) if searched == 0 => return Err(failure.into()),
            // What was found so far is worth more than a failure.
            Err(_) => break,
        }
        searched += 1;
    }
    topics.sort_by_key(|topic| (std::cmp::Reverse(topic.last_activity), topic.id));
    topics.dedup_by_key(|topic| topic.id);
    if searched < all {
        warnings.push(format!("Only {searched} of {all} {what} were searched for, the newest first."));
    }
    Ok((topics, warnings))
}

/// The stocks to search for, with a word for them and the warnings: the watch-list, newest first, or else the stocks of
/// the user's screens.
async fn to_search(
    context: &ToolContext,
) -> Result<(Vec<WatchedStock>, &'static str, Vec<String>), ToolError> {
    let (own, screened) = lists(context).await.map_err(|error| unavailable(&error))?;
    let (mut stocks, what, warning) = match (own.is_empty(), screened.is_empty()) {
        (false, _) => (own, "watched stocks", None),
        (true, false) => (screened, "stocks of the user's screens", Some(ONLY_SCREENED)),
        (true, true) => (own, "watched stocks", Some(EMPTY)),
    };
    stocks.sort_by_key(|stock| std::cmp::Reverse(stock.added_at));
    Ok((stocks, what, warning.map(str::to_owned).into_iter().collect()))
}

/// The user's own picks, and what the user's screens hold beside them.
async fn lists(context: &ToolContext) -> Result<(Vec<WatchedStock>, Vec<WatchedStock>), StoreError> {
    let watchlists = context.services.get::<UserWatchlists>();
    let user = &context.user.id;
    Ok((watchlists.lists.list(user).await?, watchlists.lists.screened(user).await?))
}

/// Identifies a state of the lists. A list that cannot be read is no reason to fail here.
async fn list_as_text(context: &ToolContext) -> String {
    let Ok((own, screened)) = lists(context).await else { return String::new() };
    let line = |stock: &WatchedStock| format!("{} {:?}\n", stock.symbol, stock.added_at);
    own.iter().map(line).chain(["\n".to_owned()]).chain(screened.iter().map(line)).collect()
}

fn naming(stock: &WatchedStock, universe: &Universe) -> Naming {
    if let Some(known) = universe.get(&stock.symbol) {
        return Naming::of_stock(known, universe);
    }
    let name = stock.name.clone().map_or_else(|| stock.symbol.clone(), String::from);
    Naming { symbol: Some(stock.symbol.clone()), name, longer: Vec::new() }
}

fn topic_message(topic: Topic) -> ForumTopic {
    ForumTopic {
        title: topic.title.into(),
        slug: topic.slug.into(),
        posts_count: i32::try_from(topic.posts_count).unwrap_or(i32::MAX),
        last_activity: time(topic.last_activity),
    }
}
